// Key to partition and devices: the preference list. Pure.
import { must } from '@ringwright/base/assert';
import type { Device } from './device.ts';
import { partitionerOf } from './partition-of-key.ts';
import type { Ring } from './ring.ts';

export interface Lookup {
  readonly partition: number;
  /** Devices that serve the key's reads, in replica order. Joiners: `slotsOf`. */
  readonly devices: readonly Device[];
}

/** Where a key is. For many keys bind the ring once with `lookupOf`. */
export function lookup(ring: Ring, key: Uint8Array): Lookup {
  return lookupOf(ring)(key);
}

/** The lookup of a ring as a function of the key. */
export function lookupOf(ring: Ring): (key: Uint8Array) => Lookup {
  const partitionOf = partitionerOf(ring.partitioner);
  return (key) => {
    const partition = partitionOf(key);
    return { partition, devices: devicesOf(ring, partition) };
  };
}

/** The devices of a partition in replica order. */
export function devicesOf(ring: Pick<Ring, 'table' | 'devices'>, partition: number): Device[] {
  const devices: Device[] = [];
  for (const row of ring.table) {
    const id = row[partition];
    if (id === undefined) continue;
    devices.push(must(ring.devices[id], `partition ${partition} names device ${id}, a hole`));
  }
  return devices;
}
