// Finds out which certificates belong to servers of a ring. The others may have left for good.
import { isIP, SocketAddress } from 'node:net';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import { stagedChanges } from '@ringwright/repository/folder/builder-file';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { openRing } from '@ringwright/repository/open-ring';

/** Returns the hosts of all devices, staged ones included; an empty set if a ring is unreadable. */
export async function hostsInRings(rings: string): Promise<ReadonlySet<string>> {
  const hosts = new Set<string>();
  try {
    for (const name of await listRings(rings)) {
      const { state, staged } = await openRing(rings, name);
      for (const device of applyChanges(state, stagedChanges(staged)).devices) {
        if (device === null) continue;
        hosts.add(plainHost(device.ip));
        if (device.replication !== undefined) hosts.add(plainHost(device.replication.ip));
      }
    }
  } catch (error) {
    codedOrDisk(error);
    return new Set();
  }
  return hosts;
}

/**
 * Returns null where it is unknown: client certificates have no address, and without any known host
 * the rings may not exist yet.
 */
export function isInRing(names: readonly string[], hosts: ReadonlySet<string>): boolean | null {
  if (hosts.size === 0 || names.every((name) => isIP(name) === 0)) return null;
  return names.some((name) => hosts.has(plainHost(name)));
}

/** Returns one spelling of a host. An IPv6 address has many. */
function plainHost(host: string): string {
  const [address = ''] = host.split('%');
  if (isIP(address) !== 6) return address.toLowerCase();
  return new SocketAddress({ address, family: 'ipv6' }).address;
}
