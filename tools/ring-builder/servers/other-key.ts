// Advice for a server that proves another key than the ring names for its address: finds out whose
// disk is there. Pure.
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
import { keyIdOf } from '@ringwright/ring/trust/public-key';

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
