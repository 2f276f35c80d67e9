// Is a ring that calls itself a small change one? Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { whyLarge } from '@ringwright/ring/audit/large-change';
import type { AuthenticRing } from '@ringwright/ring/trust/authenticate-ring';
import type { OpenedRing } from './open-ring.ts';

/**
 * Only a direct successor can be judged: a server that was away sees several ordinary changes as
 * one large one. Throws BRAKE.
 */
export function checkBrake(
  { ring, change: size }: Pick<OpenedRing, 'ring' | 'change'>,
  { signing, trust }: Pick<AuthenticRing, 'signing' | 'trust'>,
): void {
  // Declared ones have shown their signatures, or the override that the root allows.
  if (signing.large || size === null) return;
  const why = whyLarge(size, trust.root.roles.ring.movedShare);
  if (why === null) return;
  const { keyspace, version } = ring;
  const message = `ring '${keyspace}' version ${version} calls itself a small change, but ${why}`;
  throw new CodedError('BRAKE', message, {
    hint: 'find out who signed it: ring-builder commits would have asked for a second signature',
    details: { ...size },
  });
}
