// Checks whether the receiver's open files are still those in its data directory. Pure.
import { z } from 'zod';
import { countField, keyspaceField, partitionField } from './fields.ts';
import { messageKind } from './message.ts';

/** Damaged files that one answer names; it counts them all. */
export const damagedFilesMax = 4_096;
export const damageCharactersMax = 512;
const reasonField = z.string().max(damageCharactersMax);

/** The receiver compares identity and length of its open files with the directory. */
export const filesLook = messageKind({
  method: 'files-look',
  request: z.strictObject({ keyspace: keyspaceField }),
  answer: z.strictObject({
    /** Damaged files of the keyspace: unusable until they are replaced. */
    damaged: z
      .array(z.strictObject({ partition: partitionField, reason: reasonField }))
      .max(damagedFilesMax),
    count: countField,
    /** Why the commit log had to begin a new segment; null if it did not. */
    log: z.nullable(reasonField),
  }),
});
