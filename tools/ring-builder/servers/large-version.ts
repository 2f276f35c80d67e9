// A version that is a large change, and does not go to servers as it is. Pure.
import type { Ring } from '@ringwright/ring/ring';

/**
 * `address`: of a server that refuses it; empty where none was asked, since signatures are missing.
 * With enough of them a server refuses what does not say that it is large: it was committed where
 * nobody knew what the servers have, and its file stays as it is.
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
