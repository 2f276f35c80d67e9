// The addresses that a ring names. Pure.
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';

/** By ring, which is immutable: looked up with every hello. */
const known = new WeakMap<Ring, ReadonlySet<string>>();

export function addressesIn(ring: Ring): ReadonlySet<string> {
  const found = known.get(ring);
  if (found !== undefined) return found;
  const all = new Set(ring.devices.flatMap((device) => (device ? [formatAddress(device)] : [])));
  known.set(ring, all);
  return all;
}
