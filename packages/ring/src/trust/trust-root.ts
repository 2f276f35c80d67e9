// The root of trust of a cluster: its keys and roles, as a document and in checked form. Pure.
import type { KeyObject } from 'node:crypto';
import { canonicalJson } from '@ringwright/base/canonical-json';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { ringSignatureCountMax, trustEpochMax, trustKeysMax } from '@ringwright/base/limits';
import { parseJson } from '@ringwright/base/parse-json';
import { sha256 } from '@ringwright/base/sha256';
import { z } from 'zod';
import { firstComplaint } from '../device-fields.ts';
import { keyIdOf, publicKeyOf } from './public-key.ts';

export const trustRootType = 'application/vnd.ringwright.trust-root+json';

const keyId = z.string().regex(/^[0-9a-f]{64}$/);
const signatures = z.int().min(1).max(ringSignatureCountMax);
const keyIds = z.array(keyId).max(trustKeysMax);
export const keyNameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/);

const rootSchema = z.strictObject({
  /** These keys sign rings of this cluster only. */
  cluster: z.string().min(1).max(128),
  /** 1, 2, 3 …: servers advance from each root to the next. */
  version: z.int().min(1),
  /** Raised after a compromise: signatures of an earlier epoch no longer count. */
  epoch: z.int().min(1).max(trustEpochMax),
  expires: z.iso.datetime(),
  keys: z
    .array(z.strictObject({ name: keyNameSchema, spki: z.string().max(64) }))
    .max(trustKeysMax),
  roles: z.strictObject({
    /** Signs roots. Offline. */
    root: z.strictObject({ keys: keyIds, threshold: signatures }),
    /** Signs ring versions. */
    ring: z.strictObject({
      keys: keyIds,
      threshold: signatures,
      /** Signatures that a large change needs. Above the number of keys, it needs an override. */
      large: signatures,
      /** Whether a reason in the manifest may replace the further signatures. */
      override: z.boolean(),
      /** Share of the slots above which a change is large. */
      movedShare: z.number().min(0).max(1),
    }),
    /** Signs beacons. Online; can neither make nor change a ring. */
    beacon: z.strictObject({ keys: keyIds, threshold: signatures }),
  }),
});

export type TrustRoot = z.infer<typeof rootSchema>;
export type TrustRole = keyof TrustRoot['roles'];

/** A parsed root, with its keys ready for use. */
export interface Trust {
  readonly root: TrustRoot;
  /** SHA-256 (hex) of the document's bytes. A server can be pinned to it. */
  readonly id: string;
  /** Keys of each role by key id. */
  readonly keys: Readonly<Record<TrustRole, ReadonlyMap<string, KeyObject>>>;
}

export function encodeRoot(root: TrustRoot): Buffer {
  return Buffer.from(canonicalJson(root));
}

/** Throws TRUST_INVALID. walkRoots verifies signatures before it calls this. */
export function decodeRoot(bytes: Uint8Array): Trust {
  const parsed = rootSchema.safeParse(
    parseJson(bytes, () => trustInvalid('a root is not JSON in UTF-8')),
  );
  if (!parsed.success) throw trustInvalid(`a root is invalid in ${firstComplaint(parsed.error)}`);
  const root = parsed.data;
  if (!encodeRoot(root).equals(bytes)) throw trustInvalid('a root is not in canonical form');
  const known = new Map<string, KeyObject>();
  for (const { name, spki } of root.keys) {
    const key = publicKeyOf(spki);
    if (key === null) throw trustInvalid(`key ${name} is not an ed25519 key in SPKI form`);
    known.set(keyIdOf(spki), key);
  }
  if (known.size < root.keys.length) throw trustInvalid('a root lists a key twice');
  const { root: rootRole, ring, beacon } = root.roles;
  requireRoles(root, known);
  const keysOf = (ids: readonly string[]): ReadonlyMap<string, KeyObject> =>
    new Map([...known].filter(([id]) => ids.includes(id)));
  const keys = {
    root: keysOf(rootRole.keys),
    ring: keysOf(ring.keys),
    beacon: keysOf(beacon.keys),
  };
  return { root, id: sha256(bytes), keys };
}

/** Every key must have exactly one role, and every threshold must be reachable. */
function requireRoles(root: TrustRoot, known: ReadonlyMap<string, KeyObject>): void {
  const { roles } = root;
  const all = Object.values(roles).flatMap(({ keys }) => keys);
  if (new Set(all).size < all.length)
    throw trustInvalid('a key has two roles, or the same role twice');
  const unknown = all.find((id) => !known.has(id));
  if (unknown !== undefined)
    throw trustInvalid(`a role names key ${unknown}, which does not exist`);
  if (all.length < known.size) throw trustInvalid('a key has no role');
  for (const [name, { keys, threshold }] of Object.entries(roles)) {
    // Without a beacon key there are no beacons; the other two roles are required.
    if (name === 'beacon' && keys.length === 0) continue;
    if (keys.length < threshold) {
      const count = counted(keys.length, 'key');
      throw trustInvalid(`role ${name} has ${count}, its threshold is ${threshold}`);
    }
  }
  const { keys, threshold, large, override } = roles.ring;
  if (large < threshold) {
    throw trustInvalid(`large changes need ${large} signatures, small ones ${threshold}`);
  }
  if (!override && keys.length < large) {
    const signers = counted(keys.length, 'key');
    throw trustInvalid(`large changes need ${large} signatures of ${signers}, no override`);
  }
}

export function trustInvalid(sentence: string, details: Record<string, unknown> = {}): CodedError {
  return new CodedError('TRUST_INVALID', `trust document: ${sentence}`, {
    hint: 'ask the holders of the root keys for trust.json',
    details,
  });
}
