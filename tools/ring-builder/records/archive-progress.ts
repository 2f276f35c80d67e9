// The progress of an unfinished archive: `progress.json`, beside its records. Typed again, the
// command continues from there.
import path from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { replaceDurably } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import { z } from 'zod';

const progressSchema = z.strictObject({
  ring: z.string(),
  partition: z.nullable(z.int()),
  /** Start of the first attempt, Unix ms. */
  begunMs: z.int(),
  /** The cursor at which the scan continues. */
  cursor: z.string(),
  /** Size of `records.bin` up to the cursor. */
  records: z.int().min(0),
  bytes: z.int().min(0),
});

export type ArchiveProgress = z.infer<typeof progressSchema>;

export const progressPath = (folder: string): string => path.join(folder, 'progress.json');

/** The caller must have made the counted records durable. */
export function saveProgress(folder: string, progress: ArchiveProgress): Promise<void> {
  return replaceDurably(progressPath(folder), `${JSON.stringify(progress)}\n`);
}

/**
 * Returns null if no archive was started here. Throws USAGE if the folder holds part of a different
 * archive.
 */
export async function readProgress(
  folder: string,
  { ring, partition }: Pick<ArchiveProgress, 'ring' | 'partition'>,
): Promise<ArchiveProgress | null> {
  const file = progressPath(folder);
  const text = await readRegularText(file).catch(nullIfMissing);
  if (text === null) return null;
  const parsed = progressSchema.safeParse(jsonOrNull(text));
  const found = parsed.success ? parsed.data : null;
  if (found?.ring === ring && found.partition === partition) return found;
  const what = found === null ? 'an unknown ring' : nameOf(found);
  throw new CodedError(
    'USAGE',
    `${folder} has a part of ${what}, not of ${nameOf({ ring, partition })}`,
    {
      hint: 'name a new folder, or remove this one',
      details: { folder },
    },
  );
}

function nameOf({ ring, partition }: Pick<ArchiveProgress, 'ring' | 'partition'>): string {
  return partition === null ? ring : `partition ${partition} of ${ring}`;
}
