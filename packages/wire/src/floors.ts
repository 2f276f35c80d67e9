// The agreement of a partition's holders that old tombstones may go: promise, then raise. Pure.
import { z } from 'zod';
import { incarnationField, msField, partitionFields } from './fields.ts';
import { messageKind } from './message.ts';

/**
 * The receiver accepts no new record stamped at or below `floorMs` from a coordinator any more.
 * When it answers, that is durable and no such write is in flight there.
 */
export const floorPromise = messageKind({
  method: 'floor-promise',
  request: z.strictObject({ ...partitionFields, floorMs: msField }),
  answer: z.strictObject({ incarnation: incarnationField }),
});

/** The receiver, if it still has that incarnation, drops its tombstones at or below `floorMs`. */
export const floorRaise = messageKind({
  method: 'floor-raise',
  request: z.strictObject({ ...partitionFields, floorMs: msField, incarnation: incarnationField }),
  answer: z.strictObject({}),
});
