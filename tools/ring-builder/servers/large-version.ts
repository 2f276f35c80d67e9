// Advice for a large version that the change guard holds back. Pure.
import type { Ring } from '@ringwright/ring/ring';

/**
 * `address`: a server that refuses the version; empty if none was asked because signatures are
 * missing. A server refuses a version that does not declare itself large even if it has enough
 * signatures. Such a version was committed without knowing what the servers have. Its file cannot
 * be changed afterwards.
 */
export function largeVersion(
  { keyspace, version }: Pick<Ring, 'keyspace' | 'version'>,
  address: string,
): { readonly command: string; readonly text: string } {
  const sign = `sign ${keyspace} ${version}`;
  if (address === '') return { command: sign, text: 'somebody with another ring key signs it' };
  const command = `revert ${keyspace} ${version - 1}`;
  const text =
    'no signature makes it say that it is large: ' +
    `ring-builder ${command} -m REASON, then rollout; ` +
    'then the change again, and its commit with --override REASON. Where the root of the server ' +
    `wants more signatures than the one here (ring-builder key list): ring-builder ${sign}`;
  return { command, text };
}
