// A grant as a name in a certificate: urn:ringwright:read:notes/user%3A, urn:ringwright:metrics.
import { clusterRoles, dataGrantOf, dataRoles, type Grant } from './grant.ts';

const scheme = 'urn:ringwright:';

export function grantUri(grant: Grant): string {
  if (!('keyspace' in grant)) return `${scheme}${grant.role}`;
  const { role, keyspace, prefix } = grant;
  return `${scheme}${role}:${keyspace}${prefix === '' ? '' : `/${encodeURIComponent(prefix)}`}`;
}

/** Null: another name, or none that this release knows. */
export function grantOfUri(uri: string): Grant | null {
  if (!uri.startsWith(scheme)) return null;
  const decoded = decoding(uri.slice(scheme.length));
  return decoded === null ? null : grantOfWord(decoded);
}

/** Of `operator`, `read:notes` or `write:notes/user:`, as they are typed; null: no grant. */
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
