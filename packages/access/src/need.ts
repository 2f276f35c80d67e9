// What a request needs of whoever asks. Pure.
import type { ClusterRole, DataRole } from './grant.ts';

export type Need =
  /** It gives away nothing and changes nothing, or its own signature is the credential. */
  | { readonly kind: 'nothing' }
  /** Any token that is good. */
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
  /** The ring of a keyspace: whoever may read or write anything there, and every cluster role. */
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
