// The manifest of an archive of records, signed by a ring key if the rings are signed. Pure.
import type { KeyObject } from 'node:crypto';
import { canonicalJson } from '@ringwright/base/canonical-json';
import { ringSignatureCountMax } from '@ringwright/base/limits';
import { signatureSchema } from '@ringwright/ring/file/ring-envelope';
import { type Payload, signersOf, signPayload } from '@ringwright/ring/trust/dsse';
import { z } from 'zod';

const fields = {
  ring: z.string(),
  version: z.int(),
  /** Null: the whole keyspace. */
  partition: z.nullable(z.int()),
  /** Unix ms. Every record acknowledged before this time is in the archive. */
  begunMs: z.int(),
  endedMs: z.int(),
  records: z.int(),
  bytes: z.int(),
  /** SHA-256 of `records.bin`. */
  sha256: z.string(),
};

/** Format 1 has no signatures. */
export const manifestSchema = z.union([
  z.strictObject({ format: z.literal(1), ...fields }),
  z.strictObject({
    format: z.literal(2),
    ...fields,
    signatures: z.array(signatureSchema).max(ringSignatureCountMax),
  }),
]);

export type ArchiveManifest = z.infer<typeof manifestSchema>;
type Unsigned = Omit<Extract<ArchiveManifest, { format: 2 }>, 'format' | 'signatures'>;

/** `key`: undefined where rings are not signed. */
export function newManifest(unsigned: Unsigned, key: KeyObject | undefined): ArchiveManifest {
  const manifest = { format: 2, ...unsigned } as const;
  const signatures = key === undefined ? [] : [signPayload(key, payloadOf(manifest))];
  return { ...manifest, signatures };
}

/** Returns the ids of the keys that signed the manifest; none for format 1. */
export function manifestSigners(
  manifest: ArchiveManifest,
  keys: ReadonlyMap<string, KeyObject>,
): ReadonlySet<string> {
  if (manifest.format === 1) return new Set();
  const { signatures, ...unsigned } = manifest;
  return signersOf(payloadOf(unsigned), signatures, keys);
}

function payloadOf(unsigned: Unsigned & { readonly format: 2 }): Payload {
  const bytes = Buffer.from(canonicalJson(unsigned));
  return { type: 'application/vnd.ringwright.archive+json', bytes };
}
