// Replication between holders: compare digests, offer stamps, push what is wanted. Pure.
import { recentSpansMax } from '@ringwright/base/limits';
import { z } from 'zod';
import {
  afterField,
  assignmentField,
  countField,
  digestField,
  incarnationField,
  keyField,
  keyspaceField,
  msField,
  partitionField,
  partitionFields,
  partitionStateField,
  recordFields,
  sequenceField,
  tieField,
  versionField,
} from './fields.ts';
import { messageKind } from './message.ts';

/** Partitions of one digest comparison. */
export const digestPartitionsMax = 4_096;
/** Stamps of one offer, and records of one push: some 60 bytes each without values. */
export const offerRowsMax = 1_024;
const rowIndexField = z
  .int()
  .min(0)
  .max(offerRowsMax - 1);

/** Content digests of partitions on the receiver; `null` where it has no file. */
export const digests = messageKind({
  method: 'digests',
  request: z.strictObject({
    keyspace: keyspaceField,
    ringVersion: versionField,
    partitions: z.array(partitionField).max(digestPartitionsMax),
    /** If set, `expired` counts the records with a value that have expired by then. */
    nowMs: z.optional(msField),
    /** If true, the answer has the recent sums. */
    recent: z.optional(z.boolean()),
  }),
  answer: z.strictObject({
    holdings: z
      .array(
        z.nullable(
          z.strictObject({
            incarnation: incarnationField,
            state: partitionStateField,
            digest: digestField,
            rows: countField,
            expired: z.optional(countField),
            seq: sequenceField,
            /** 0 if the holder has dropped no tombstone yet. */
            floorMs: msField,
            /** By spans of stamps: see RecentRows of the partition store. */
            recent: z.optional(z.array(z.tuple([countField, digestField])).max(recentSpansMax)),
          }),
        ),
      )
      .max(digestPartitionsMax),
  }),
});

/** The last rows of the receiver's file, newest first, and the digest of all rows. */
export const tail = messageKind({
  method: 'tail',
  request: z.strictObject({ ...partitionFields, rowsMax: z.int().min(1).max(offerRowsMax) }),
  answer: z.strictObject({
    incarnation: incarnationField,
    digest: digestField,
    /** Each with its row hash. */
    rows: z.array(z.tuple([keyField, msField, tieField, digestField])).max(offerRowsMax),
  }),
});

/** Keys and stamps that the sender holds; the answer names those the receiver lacks, by index. */
export const offer = messageKind({
  method: 'offer',
  request: z.strictObject({
    ...partitionFields,
    stamps: z.array(z.tuple([keyField, msField, tieField])).max(offerRowsMax),
  }),
  answer: z.strictObject({
    incarnation: incarnationField,
    wanted: z.array(rowIndexField).max(offerRowsMax),
  }),
});

/**
 * Records that the receiver wanted. Durable when answered, except those named by index: promises
 * keep them out until a round has decided what their keys hold.
 */
export const push = messageKind({
  method: 'push',
  request: z.strictObject({
    ...partitionFields,
    rows: z.array(z.strictObject(recordFields)).max(offerRowsMax),
  }),
  answer: z.strictObject({
    incarnation: incarnationField,
    undecided: z.array(rowIndexField).max(offerRowsMax),
  }),
});

/** Promises of keys whose records at the receiver are all older: a joiner takes them over. */
export const promises = messageKind({
  method: 'promises',
  request: z.strictObject({ ...partitionFields, after: afterField }),
  answer: z.strictObject({
    keys: z.array(keyField).max(offerRowsMax),
    /** The promised stamp of each key; null: not reported. */
    stamps: z.nullable(z.array(z.tuple([msField, tieField])).max(offerRowsMax)),
    more: z.boolean(),
  }),
});

/** Records of the receiver's file after a sequence: how a joiner catches up. */
export const rowsSince = messageKind({
  method: 'rows',
  request: z.strictObject({
    ...partitionFields,
    /** Assignment id of the move the joiner loads for; null when it holds the slot already. */
    assignment: z.nullable(assignmentField),
    since: sequenceField,
  }),
  answer: z.strictObject({
    incarnation: incarnationField,
    /** A copy with a lower floor may lack deletions that these rows no longer show. */
    floorMs: msField,
    rows: z.array(z.strictObject(recordFields)).max(offerRowsMax),
    lastSeq: sequenceField,
    more: z.boolean(),
    /** Whether `promises` would return any; null: not checked. */
    hasPromises: z.nullable(z.boolean()),
  }),
});
