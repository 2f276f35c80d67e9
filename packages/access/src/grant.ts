// A grant: one role and its scope; written as a word, or as a URI in a certificate. Pure.
import { grantPrefixBytesMax } from '@ringwright/base/limits-access';
import { keyspaceNamePattern } from '@ringwright/ring/keyspace-name';
import { z } from 'zod';

/** Stands for every keyspace, including future ones. */
export const everyKeyspace = '*';

/** Roles on records: each for one keyspace, and for the keys that begin with a prefix. */
export const dataRoles = ['read', 'write'] as const;
/** Roles on a whole cluster. */
export const clusterRoles = ['operator', 'metrics', 'peer'] as const;

export type DataRole = (typeof dataRoles)[number];
export type ClusterRole = (typeof clusterRoles)[number];

const prefixSchema = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= grantPrefixBytesMax, 'is too long')
  // A lone surrogate would stand for another prefix than the one displayed.
  .refine((text) => Buffer.from(text).toString() === text, 'is not valid text');

export const grantSchema = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.enum(dataRoles),
    keyspace: z.string().regex(keyspaceNamePattern).or(z.literal(everyKeyspace)),
    /** Prefix of keys, in UTF-8; empty: all keys. */
    prefix: prefixSchema,
  }),
  z.strictObject({ role: z.enum(clusterRoles) }),
]);

export type Grant = z.infer<typeof grantSchema>;
type DataGrant = Extract<Grant, { readonly keyspace: string }>;

/** `read notes/user:`, `write *`, `operator`. */
export function grantText(grant: Grant): string {
  if (!('keyspace' in grant)) return grant.role;
  const { role, keyspace, prefix } = grant;
  return `${role} ${keyspace}${prefix === '' ? '' : `/${prefix}`}`;
}

/** Parses `KEYSPACE[/PREFIX]` as it is typed; null if it is not a keyspace name. */
export function dataGrantOf(role: DataRole, scope: string): DataGrant | null {
  const at = scope.indexOf('/');
  const [keyspace, prefix] = at === -1 ? [scope, ''] : [scope.slice(0, at), scope.slice(at + 1)];
  const parsed = grantSchema.safeParse({ role, keyspace, prefix });
  return parsed.success && 'keyspace' in parsed.data ? parsed.data : null;
}

const scheme = 'urn:ringwright:';

export function grantUri(grant: Grant): string {
  if (!('keyspace' in grant)) return `${scheme}${grant.role}`;
  const { role, keyspace, prefix } = grant;
  return `${scheme}${role}:${keyspace}${prefix === '' ? '' : `/${encodeURIComponent(prefix)}`}`;
}

/** Null for other URIs, and for roles that this release does not know. */
export function grantOfUri(uri: string): Grant | null {
  if (!uri.startsWith(scheme)) return null;
  const decoded = decoding(uri.slice(scheme.length));
  return decoded === null ? null : grantOfWord(decoded);
}

/**
 * Parses `operator`, `read:notes` or `write:notes/user:`, as they are typed; null if it is no
 * grant.
 */
export function grantOfWord(word: string): Grant | null {
  const cluster = clusterRoles.find((role) => role === word);
  if (cluster !== undefined) return { role: cluster };
  const at = word.indexOf(':');
  const role = dataRoles.find((one) => one === word.slice(0, Math.max(at, 0)));
  return role === undefined ? null : dataGrantOf(role, word.slice(at + 1));
}

function decoding(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
