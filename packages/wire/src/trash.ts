// Dropped partitions of the receiver: lists its trash, restores from it, and confirms drops that
// wait for an operator. Pure.
import { trashListMax } from '@ringwright/base/limits-copies';
import { z } from 'zod';
import {
  countField,
  incarnationField,
  keyspaceField,
  msField,
  partitionField,
  ringIdField,
} from './fields.ts';
import { messageKind } from './message.ts';

const trashNameField = z.string().min(1).max(160);

export const trashList = messageKind({
  method: 'trash-list',
  request: z.strictObject({ keyspace: keyspaceField }),
  answer: z.strictObject({
    /** Newest first. */
    items: z
      .array(
        z.strictObject({
          name: trashNameField,
          atMs: msField,
          partition: partitionField,
          incarnation: incarnationField,
          bytes: countField,
        }),
      )
      .max(trashListMax),
    /** Totals of the keyspace: the list may be cut. */
    count: countField,
    bytes: countField,
  }),
});

/**
 * Restores the partition as one that lacks records. SERVE and LOAD: it refills. UNLOAD: its records
 * are offered to the holders, then it is dropped again.
 */
export const trashRestore = messageKind({
  method: 'trash-restore',
  request: z.strictObject({ keyspace: keyspaceField, name: trashNameField }),
  answer: z.strictObject({
    partition: partitionField,
    rows: countField,
    duty: z.enum(['SERVE', 'LOAD', 'UNLOAD']),
  }),
});

/** Releases the drops that the receiver holds back; refused if they have changed meanwhile. */
export const confirmDrops = messageKind({
  method: 'confirm-drops',
  request: z.strictObject({
    keyspace: keyspaceField,
    /** The ring that takes the partitions away. */
    ringId: ringIdField,
    /** Number of held drops and quarantines together. */
    count: z.int().min(1),
  }),
  answer: z.strictObject({ confirmed: countField }),
});
