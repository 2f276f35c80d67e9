// The ring as a client knows it: which servers hold a key. Pure.

import { decodeRing } from '@ringwright/ring/file/ring-file';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';

export interface KnownRing {
  readonly version: number;
  /** Addresses of the devices that serve a key's reads, in replica order. */
  readonly holdersOf: (key: Uint8Array) => string[];
  /** Addresses of all devices. */
  readonly addresses: readonly string[];
}

/**
 * The ring of a ring file. Its signatures are not looked at: a wrong ring makes a client ask the
 * wrong server, which coordinates the request by its own ring all the same.
 */
export function knownRing(file: Uint8Array): KnownRing {
  const { ring } = decodeRing(file);
  const addresses = ring.devices.map((device) => (device === null ? null : addressOf(device)));
  const partitionOf = partitionerOf(ring.partitioner);
  return {
    version: ring.version,
    holdersOf: (key) =>
      slotsOf(ring, partitionOf(key)).flatMap(({ device }) => addresses[device] ?? []),
    addresses: [...new Set(addresses.filter((address) => address !== null))],
  };
}

function addressOf({ ip, port }: NonNullable<Ring['devices'][number]>): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}
