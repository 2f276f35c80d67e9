// The keys of devices that a ring names. Pure.
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
import { keyIdOf } from '@ringwright/ring/trust/public-key';

export interface RingKeys {
  /** Every device of the ring has a key: then nobody else speaks as one. */
  readonly isWhole: boolean;
  /** Ids of keys, each with the device that has it. */
  readonly devices: ReadonlyMap<string, number>;
  readonly byAddress: ReadonlyMap<string, ReadonlySet<string>>;
}

/** By ring, which is immutable: looked up with every call between devices. */
const known = new WeakMap<Ring, RingKeys>();

export function ringKeys(ring: Ring): RingKeys {
  const found = known.get(ring);
  if (found !== undefined) return found;
  const devices = new Map<string, number>();
  const byAddress = new Map<string, Set<string>>();
  let isWhole = true;
  for (const device of ring.devices) {
    if (device === null) continue;
    if (device.key === undefined) {
      isWhole = false;
      continue;
    }
    const id = keyIdOf(device.key);
    const address = formatAddress(device);
    devices.set(id, device.id);
    byAddress.set(address, (byAddress.get(address) ?? new Set<string>()).add(id));
  }
  const keys = { isWhole: isWhole && devices.size > 0, devices, byAddress };
  known.set(ring, keys);
  return keys;
}
