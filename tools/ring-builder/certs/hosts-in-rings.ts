// Which servers of certificates are in a ring of the folder: the rest may have left for good.
import { isIP, SocketAddress } from 'node:net';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import { stagedChanges } from '@ringwright/repository/folder/builder-file';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { openRing } from '@ringwright/repository/open-ring';

/** What their devices are reached by, staged ones included. None: a ring cannot be read. */
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

/** Null: nobody knows. Certificates of clients have no address, and the rings may be to come. */
export function isInRing(names: readonly string[], hosts: ReadonlySet<string>): boolean | null {
  if (hosts.size === 0 || names.every((name) => isIP(name) === 0)) return null;
  return names.some((name) => hosts.has(plainHost(name)));
}

/** One spelling: IPv6 has many. */
function plainHost(host: string): string {
  const [address = ''] = host.split('%');
  if (isIP(address) !== 6) return address.toLowerCase();
  return new SocketAddress({ address, family: 'ipv6' }).address;
}
