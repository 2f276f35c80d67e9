// Reads and writes of single records, from the coordinator to the device of a slot. Pure.
import { z } from 'zod';
import {
  keyField,
  msField,
  partitionFields,
  recordFields,
  tieField,
  valueField,
} from './fields.ts';
import { messageKind } from './message.ts';

const staleAnswer = z.strictObject({ kind: z.literal('stale'), ms: msField, tie: tieField });

/** Durable when answered. `stale` carries the newer timestamp that the device holds. */
export const recordWrite = messageKind({
  method: 'write',
  request: z.strictObject({ ...partitionFields, ...recordFields }),
  answer: z.union([z.strictObject({ kind: z.literal('stored') }), staleAnswer]),
});

export const recordRead = messageKind({
  method: 'read',
  request: z.strictObject({ ...partitionFields, key: keyField }),
  answer: z.strictObject({
    record: z.nullable(z.strictObject({ value: valueField, ms: msField, tie: tieField })),
  }),
});
