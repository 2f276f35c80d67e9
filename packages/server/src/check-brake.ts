// Is a ring that calls itself a small change one? Compared with the active ring. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { AuthenticRing } from '@ringwright/ring/authenticate-ring';
import { changeSize, whyLarge } from '@ringwright/ring/large-change';
import type { Ring } from '@ringwright/ring/ring';

/**
 * Only a direct successor can be judged: a server that was away sees several ordinary changes as
 * one large one. Throws BRAKE.
 */
export function checkBrake(
  active: { readonly ring: Ring; readonly id: string },
  given: { readonly ring: Ring },
  { signing, trust }: Pick<AuthenticRing, 'signing' | 'trust'>,
): void {
  // Declared ones have shown their signatures, or the override that the root allows.
  if (signing.large || given.ring.parent !== active.id) return;
  const size = changeSize(active.ring, given.ring);
  const why = whyLarge(size, trust.root.roles.ring.movedShare);
  if (why === null) return;
  const { keyspace, version } = given.ring;
  const message = `ring '${keyspace}' version ${version} calls itself a small change, but ${why}`;
  throw new CodedError('BRAKE', message, {
    hint: 'find out who signed it: ring-builder commits would have asked for a second signature',
    details: { ...size },
  });
}
