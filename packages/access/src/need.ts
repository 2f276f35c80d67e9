// The permission that a request needs, and whether grants suffice for it. Pure.
import { type ClusterRole, type DataRole, everyKeyspace, type Grant } from './grant.ts';

export type Need =
  /** The request reveals and changes nothing, or its own signature is the credential. */
  | { readonly kind: 'nothing' }
  /** Any valid token. */
  | { readonly kind: 'token' }
  /** One of these roles. */
  | { readonly kind: 'role'; readonly roles: readonly ClusterRole[] }
  /** `key` null: the keys of the whole keyspace. */
  | {
      readonly kind: 'data';
      readonly role: DataRole;
      readonly keyspace: string;
      readonly key: Uint8Array | null;
    }
  /**
   * The ring of a keyspace: for callers that may read or write anything there, and all cluster
   * roles.
   */
  | { readonly kind: 'ring'; readonly keyspace: string };

export const nothing: Need = { kind: 'nothing' };
export const anyToken: Need = { kind: 'token' };

export function role(...roles: readonly ClusterRole[]): Need {
  return { kind: 'role', roles };
}

/** For messages and logs, which name no key: `operator or peer`, `write this key of notes`. */
export function needText(need: Need): string {
  switch (need.kind) {
    case 'nothing':
      return 'nothing';
    case 'token':
      return 'a token';
    case 'role':
      return need.roles.join(' or ');
    case 'data':
      return `${need.role} ${need.key === null ? 'all' : 'this key'} of ${need.keyspace}`;
    case 'ring':
      return `read or write ${need.keyspace}`;
  }
}

/** Whether grants suffice for the need. `grants`: null for a caller without a valid token. */
export function permits(grants: readonly Grant[] | null, need: Need): boolean {
  if (need.kind === 'nothing') return true;
  if (grants === null) return false;
  if (need.kind === 'token') return true;
  return grants.some((grant) => covers(grant, need));
}

function covers(grant: Grant, need: Exclude<Need, { kind: 'nothing' | 'token' }>): boolean {
  if (need.kind === 'role') return need.roles.some((one) => one === grant.role);
  if (!('keyspace' in grant)) return need.kind === 'ring';
  if (grant.keyspace !== everyKeyspace && grant.keyspace !== need.keyspace) return false;
  if (need.kind === 'ring') return true;
  return grant.role === need.role && beginsWith(need.key, grant.prefix);
}

function beginsWith(key: Uint8Array | null, prefix: string): boolean {
  if (prefix === '') return true;
  if (key === null) return false;
  const bytes = Buffer.from(prefix);
  return bytes.length <= key.length && bytes.equals(key.subarray(0, bytes.length));
}
