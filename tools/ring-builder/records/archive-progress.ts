// The progress of an unfinished archive: `progress.json`, beside its records. Typed again, the
// command continues from there. It is signed as the archive will be: what somebody else has put
// into the folder meanwhile must not get a signature.
import type { KeyObject } from 'node:crypto';
import path from 'node:path';
import { canonicalJson } from '@ringwright/base/canonical-json';
import { CodedError } from '@ringwright/base/coded-error';
import { ringSignatureCountMax } from '@ringwright/base/limits';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { replaceDurably } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import { signatureSchema } from '@ringwright/ring/file/ring-envelope';
import { type Payload, signersOf, signPayload } from '@ringwright/ring/trust/dsse';
import { z } from 'zod';

const fields = {
  ring: z.string(),
  partition: z.nullable(z.int()),
  /** Start of the first attempt, Unix ms. */
  begunMs: z.int(),
  /** The cursor at which the scan continues. */
  cursor: z.string(),
  /** Size of `records.bin` up to the cursor. */
  records: z.int().min(1),
  bytes: z.int().min(1),
  /** SHA-256 of that part of `records.bin`; empty in parts of older releases. */
  sha256: z.string().default(''),
};

const progressSchema = z.strictObject({
  ...fields,
  signatures: z.array(signatureSchema).max(ringSignatureCountMax).default([]),
});

type SignedProgress = z.infer<typeof progressSchema>;
export type ArchiveProgress = Omit<SignedProgress, 'signatures'>;

export const progressPath = (folder: string): string => path.join(folder, 'progress.json');

/** The caller must have made the counted records durable. `key`: that of the archive. */
export function saveProgress(
  folder: string,
  progress: ArchiveProgress,
  key: KeyObject | undefined,
): Promise<void> {
  const signatures = key === undefined ? [] : [signPayload(key, payloadOf(progress))];
  const signed: SignedProgress = { ...progress, signatures };
  return replaceDurably(progressPath(folder), `${JSON.stringify(signed)}\n`);
}

/** `keys`: the ring keys if the archive will be signed; then one of them must have signed this. */
export function isVerified(
  { signatures, ...progress }: SignedProgress,
  keys: ReadonlyMap<string, KeyObject> | null,
): boolean {
  if (progress.sha256 === '') return false;
  return keys === null || signersOf(payloadOf(progress), signatures, keys).size > 0;
}

function payloadOf(progress: ArchiveProgress): Payload {
  const bytes = Buffer.from(canonicalJson(progress));
  return { type: 'application/vnd.ringwright.archive-progress+json', bytes };
}

/**
 * Returns null if no archive was started here. Throws USAGE if the folder holds part of a different
 * archive.
 */
export async function readProgress(
  folder: string,
  { ring, partition }: Pick<ArchiveProgress, 'ring' | 'partition'>,
): Promise<SignedProgress | null> {
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
