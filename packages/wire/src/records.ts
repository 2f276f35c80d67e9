// Reads and writes of single records, from the coordinator to the device of a slot. Pure.
import { batchedWritesBytesMax, batchedWritesMax } from '@ringwright/base/limits-wire';
import { z } from 'zod';
import {
  bytesField,
  contentFields,
  keyField,
  keyspaceField,
  msField,
  partitionFields,
  recordFields,
  stampField,
  tieField,
  versionField,
} from './fields.ts';
import { messageKind } from './message.ts';

const staleAnswer = z.strictObject({ kind: z.literal('stale'), ...stampField.shape });
/** Not stored: a promise with this stamp, which is higher, keeps it out. */
const promisedAnswer = z.strictObject({ kind: z.literal('promised'), ...stampField.shape });

/**
 * Durable when answered. `stale` carries the newer timestamp that the device holds. `repair`: a
 * holder gave the record to a read, so it may be older than what holders take from writers.
 */
export const recordWrite = messageKind({
  method: 'write',
  request: z.strictObject({
    ...partitionFields,
    ...recordFields,
    repair: z.optional(z.literal(true)),
  }),
  answer: z.union([z.strictObject({ kind: z.literal('stored') }), staleAnswer, promisedAnswer]),
});

/** What became of one of many writes; `failed`: its error is the next one of the answer's. */
export const writeKinds = ['stored', 'stale', 'promised', 'failed'] as const;

/**
 * Many writes of one turn (packed-writes.ts), each with an outcome of its own. `kinds` has an index
 * of writeKinds for each write; `stamps` are those of the stale and the promised ones in that
 * order, `errors` those of the failed ones.
 */
export const recordsWrite = messageKind({
  method: 'writes',
  request: z.strictObject({
    keyspace: keyspaceField,
    ringVersion: versionField,
    writes: bytesField('writes', 1, batchedWritesBytesMax),
  }),
  answer: z.strictObject({
    kinds: bytesField('kinds', 1, batchedWritesMax),
    stamps: z.array(stampField).max(batchedWritesMax),
    errors: z.array(z.unknown()).max(batchedWritesMax),
  }),
});

/** Expired records are given as they are: whoever asks decides at one moment for all answers. */
export const recordRead = messageKind({
  method: 'read',
  request: z.strictObject({ ...partitionFields, key: keyField }),
  answer: z.strictObject({ record: z.nullable(z.strictObject(contentFields)) }),
});

/** Of the record that `read` gives, its stamp alone; null when there is none. */
export const recordStamp = messageKind({
  method: 'stamp',
  request: z.strictObject({ ...partitionFields, key: keyField }),
  answer: z.strictObject({ stamp: z.nullable(stampField) }),
});

/**
 * The first half of a round (packages/server/src/coordinate/ROUNDS.md): no record of the key
 * stamped below `ms` and `tie` is stored there any more; durable when answered. `given` carries
 * what the device holds then, which only counts of a device that `serves`; `refused` the higher
 * stamp that is there.
 */
export const recordPrepare = messageKind({
  method: 'prepare',
  request: z.strictObject({ ...partitionFields, key: keyField, ms: msField, tie: tieField }),
  answer: z.union([
    z.strictObject({
      kind: z.literal('given'),
      serves: z.boolean(),
      record: z.nullable(z.strictObject(contentFields)),
    }),
    z.strictObject({ kind: z.literal('refused'), ...stampField.shape }),
  ]),
});
