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
/** Not stored: a promise with this higher stamp keeps the write out. */
const promisedAnswer = z.strictObject({ kind: z.literal('promised'), ...stampField.shape });

/**
 * Durable when answered. `stale` has the newer stamp that the device holds. `repair`: the record
 * comes from a holder, through a read, so it may be older than what holders accept from writers.
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

/** The outcome of one of many writes; `failed`: its error is the next one in `errors`. */
export const writeKinds = ['stored', 'stale', 'promised', 'failed'] as const;

/**
 * Many writes of one turn (packed-writes.ts), each with an outcome of its own. `kinds` has an index
 * into writeKinds for each write. `stamps` are those of the stale and promised writes, in order;
 * `errors` those of the failed ones.
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

/** Expired records are returned as they are: the caller applies one moment to all answers. */
export const recordRead = messageKind({
  method: 'read',
  request: z.strictObject({ ...partitionFields, key: keyField }),
  answer: z.strictObject({ record: z.nullable(z.strictObject(contentFields)) }),
});

/** The stamp of the record that `read` would return; null if there is none. */
export const recordStamp = messageKind({
  method: 'stamp',
  request: z.strictObject({ ...partitionFields, key: keyField }),
  answer: z.strictObject({ stamp: z.nullable(stampField) }),
});

/**
 * The first half of a round (packages/server/src/coordinate/ROUNDS.md): the device no longer
 * accepts a record of the key stamped below `ms` and `tie`; durable when answered. `given` has the
 * device's present record, which counts only if the device `serves`; `refused` has the higher stamp
 * that is there.
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
