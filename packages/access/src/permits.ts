// Whether grants are enough for what a request needs. Pure.
import { everyKeyspace, type Grant } from './grant.ts';
import type { Need } from './need.ts';

/** `grants`: null for whoever has no good token. */
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
  const wanted = Buffer.from(prefix);
  return wanted.length <= key.length && wanted.equals(key.subarray(0, wanted.length));
}
