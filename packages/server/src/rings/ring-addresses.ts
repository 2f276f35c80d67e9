// The addresses that a ring names. Pure.
import { getOrMake } from '@ringwright/base/get-or-make';
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';

/** By ring, which is immutable: looked up with every hello. */
const known = new WeakMap<Ring, ReadonlyMap<string, string>>();

/** Maps each address to the server's own address: a replication address to the one for requests. */
export function addressesIn(ring: Ring): ReadonlyMap<string, string> {
  return getOrMake(known, ring, () => findAddresses(ring));
}

function findAddresses({ devices: slots }: Ring): ReadonlyMap<string, string> {
  const devices = slots.filter((device) => device !== null);
  const all = new Map<string, string>();
  for (const device of devices) {
    if (device.replication) all.set(formatAddress(device.replication), formatAddress(device));
  }
  for (const device of devices) all.set(formatAddress(device), formatAddress(device));
  return all;
}
