// Whether the files of the receiver are still those that its data directory names. Pure.
import { z } from 'zod';
import { countField, keyspaceField, partitionField } from './fields.ts';
import { messageKind } from './message.ts';

/** Damaged files that one answer names; it counts them all. */
export const damagedFilesMax = 4_096;
export const damageCharactersMax = 512;
const reasonField = z.string().max(damageCharactersMax);

/** The receiver compares its open files with the directory: identity and length. */
export const filesLook = messageKind({
  method: 'files-look',
  request: z.strictObject({ keyspace: keyspaceField }),
  answer: z.strictObject({
    /** Of the keyspace: files that take and give nothing until they are replaced. */
    damaged: z
      .array(z.strictObject({ partition: partitionField, reason: reasonField }))
      .max(damagedFilesMax),
    count: countField,
    /** What became of the commit log, if it had to begin anew; null: nothing. */
    log: z.nullable(reasonField),
  }),
});
