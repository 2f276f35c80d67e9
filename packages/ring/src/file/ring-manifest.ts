// The manifest of a ring file: the ring's settings, and each section's length and digest. Pure.
import { canonicalJson } from '@ringwright/base/canonical-json';
import {
  deviceCountMax,
  hashDelimiterBytesMax,
  keyBytesMax,
  overrideCharactersMax,
  partitionCountMax,
  partitionPowerMax,
  replicaCountMax,
  ringFileBytesMax,
  ringSectionCountMax,
  trustEpochMax,
} from '@ringwright/base/limits';
import { ringAncestorsMax } from '@ringwright/base/limits-rings';
import { parseJson } from '@ringwright/base/parse-json';
import { z } from 'zod';
import { firstComplaint } from '../device-fields.ts';
import { intervalHashes, saltBytesMax } from '../partitioner/partitioner.ts';
import { fileInvalid } from './ring-file-error.ts';

/** One section: its bytes follow those of the one before. */
export interface Section {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const version = z
  .int()
  .min(1)
  .max(2 ** 32 - 1);
/** Raw bytes as hex. */
const salt = z
  .string()
  .max(2 * saltBytesMax)
  .regex(/^([0-9a-f]{2})*$/);

const partitions = z.int().min(1).max(partitionCountMax);

/** Settings only: listed boundaries have a section of their own. */
const partitionerSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('md5-shift'),
    power: z.int().min(0).max(partitionPowerMax),
    prefix: salt,
    suffix: salt,
  }),
  z.object({
    kind: z.literal('murmur3-mod'),
    partitions,
    seed: z
      .int()
      .min(0)
      .max(2 ** 32 - 1),
  }),
  z.object({
    kind: z.literal('hash-intervals'),
    hash: z.enum(intervalHashes),
    hashKey: z.string().min(1).max(hashDelimiterBytesMax).exactOptional(),
    partitions,
    intervals: partitions.exactOptional(),
  }),
  z.object({
    kind: z.literal('ranges'),
    partitions,
    intervals: partitions,
    retiredBefore: z
      .string()
      .max(3 * keyBytesMax)
      .exactOptional(),
  }),
]);

const sectionSchema = z.object({
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9.-]{0,62}$/),
  bytes: z.int().min(0).max(ringFileBytesMax),
  sha256: digest,
});

/** Additional data of a signed ring. The signatures cover it, like all of the manifest. */
const signingSchema = z.strictObject({
  /** The epoch of the root that the ring was signed under; each epoch has its own versions. */
  epoch: z.int().min(1).max(trustEpochMax),
  /** Id of that root. */
  root: digest,
  /** SHA-256 of the last line of log.jsonl before this version; null before the first line. */
  logHead: digest.nullable(),
  /** Whether the change guard considered the change large, which requires further signatures. */
  large: z.boolean(),
  /** Why the change passes without them, in the words of the responsible person. */
  override: z.string().min(1).max(overrideCharactersMax).nullable(),
});

export type Signing = z.infer<typeof signingSchema>;

const reshapeSchema = z.object({ kind: z.enum(['to', 'from']), partitioner: partitionerSchema });

/** Unknown members are allowed and ignored: the id covers the raw bytes. */
const manifestSchema = z.object({
  keyspace: z.string().max(63),
  cluster: z.string().max(128),
  version,
  parent: digest.nullable(),
  /** Absent in versions 1 and 2, and in versions of older programs. */
  ancestors: z.array(digest).min(1).max(ringAncestorsMax).exactOptional(),
  partitioner: partitionerSchema,
  partitions,
  replicas: z.number().gt(0).max(replicaCountMax),
  deviceCount: z.int().min(0).max(deviceCountMax),
  deviceIdBytes: z.union([z.literal(2), z.literal(4)]),
  nextAssignment: z.int().min(1),
  /** Absent in unsigned rings, so that their bytes are the same as before signatures existed. */
  signing: signingSchema.optional(),
  /** Absent unless partitions were ever split or merged. */
  reshape: reshapeSchema.exactOptional(),
  sections: z.array(sectionSchema).max(ringSectionCountMax),
});

export type Manifest = z.infer<typeof manifestSchema>;

export function encodeManifest(manifest: Manifest): Buffer {
  return Buffer.from(canonicalJson(manifest));
}

/** Throws RING_FILE_INVALID. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  const parsed = manifestSchema.safeParse(ringJson(bytes, 'manifest'));
  if (!parsed.success) {
    throw fileInvalid('manifest', `invalid in ${firstComplaint(parsed.error)}`, 'a ring manifest');
  }
  return parsed.data;
}

export function ringJson(bytes: Uint8Array, what: string): unknown {
  const found = `${bytes.length} bytes that are not JSON`;
  return parseJson(bytes, () => fileInvalid(what, found, 'JSON in UTF-8'));
}
