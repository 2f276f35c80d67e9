// Dropped partitions of the receiver: what is in its trash, what comes back, and which drops wait
// for an operator. Pure.
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
    /** The newest first. */
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
    /** Of the keyspace in all: the list may be cut. */
    count: countField,
    bytes: countField,
  }),
});

/**
 * The partition comes back as one that lacks records. SERVE and LOAD: it refills. UNLOAD: its
 * records are offered to the holders, then it is dropped again.
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

/** Lets go what the receiver holds back; refused unless it is still just that. */
export const confirmDrops = messageKind({
  method: 'confirm-drops',
  request: z.strictObject({
    keyspace: keyspaceField,
    /** The ring that takes the partitions away. */
    ringId: ringIdField,
    /** Drops and quarantines that are held, together. */
    count: z.int().min(1),
  }),
  answer: z.strictObject({ confirmed: countField }),
});
