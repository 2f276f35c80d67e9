// Rows of the table in advice.ts: servers that let nobody in, prove another key, or refuse what is
// a large change. Pure.
import { counted } from '@ringwright/base/counted';
import type { ErrorCode } from '@ringwright/base/errors';
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { Advise } from './advice.ts';

/** Codes that a reachable server returns for a missing or insufficient token. */
export const needsToken: ReadonlySet<ErrorCode> = new Set([
  'TOKEN_MISSING',
  'TOKEN_REFUSED',
  'ACCESS_PENDING',
  'PERMISSION_MISSING',
]);

export const olderAccess: Advise = () => ({
  command: 'access list',
  text:
    'those servers hold a newer access document: work in the folder that made it (git pull), or ' +
    'take theirs, which lies as trust/access.json in the data directory of each, for the one here',
});

/**
 * The servers were started with --token-file and have no access document: they never had one, or
 * they lost it with the disk.
 */
export const pendingAccess: Advise = ({ ring: { keyspace }, access }) => {
  const unknown = 'those servers begin anew and know nobody yet';
  if (access === null) {
    const text =
      `${unknown}, and this folder has no access document: ` +
      'ring-builder access grant NAME --operator --metrics --out FILE makes one; where the ' +
      'cluster has one, get it back first, as trust/access.json of the data directory of a server';
    return { command: 'access list', text };
  }
  if (access !== undefined && access.missing > 0) {
    const lack = `access document ${access.version} lacks ${counted(access.missing, 'signature')}`;
    const text = `${unknown}; ${lack}: ring-builder access sign adds one, and sends it`;
    return { command: 'access sign', text };
  }
  const text = `${unknown}: a push brings ring and access document`;
  return { command: `push ${keyspace}`, text };
};

export const token: Advise = () => ({
  command: 'access list',
  text:
    'show a token with the role: --token-file FILE, or RING_BUILDER_TOKEN_FILE; ' +
    'ring-builder access list shows who has which, access grant NAME --operator --metrics makes one',
});

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

interface Unproven {
  readonly address: string;
  readonly devices: readonly number[];
  /** The id of the key that the server proved, if known. */
  readonly key?: string;
}

export function otherKey(
  { keyspace, devices: all }: Pick<Ring, 'keyspace' | 'devices'>,
  { address, devices, key }: Unproven,
): { readonly command: string; readonly text: string } {
  const owner = all.find((one) => one?.key !== undefined && keyIdOf(one.key) === key);
  if (owner) {
    const place = formatAddress(owner);
    const disk = `at ${address} is the disk of d${owner.id}`;
    const text = `${disk}: start it at ${place}, as the ring says`;
    return { command: `servers ${keyspace}`, text };
  }
  const who = devices.length === 1 ? `d${devices[0]}` : 'all';
  const command = `set-device ${keyspace} ${who} --ask-key`;
  const text =
    `is it the right server at ${address}? Where its disk was emptied, its key is new: ` +
    'stop it, empty the disk, put a kept device-key.pem there and start it; or, without one, ' +
    `ring-builder ${command}, commit and push make the new key known`;
  return { command, text };
}
