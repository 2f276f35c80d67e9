// Lists the partition files on the disks of a ring's devices.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import type { Ring } from '@ringwright/ring/ring';
import { digestPartitionsMax, digests } from '@ringwright/wire/replication';
import { lookAtFiles } from '../../servers/ask-servers.ts';
import { fanOut } from '../../servers/fan-out.ts';
import type { Target } from '../../servers/ring-targets.ts';
import { withServer } from '../../servers/server-connection.ts';
import { serverStatus } from '../../servers/server-status.ts';
import { type SilentServer, silentServer } from '../../servers/silent-servers.ts';
import type { DiskFile, DiskListing } from './reconcile-ring.ts';

interface ListedDisks {
  readonly listings: readonly DiskListing[];
  readonly away: readonly SilentServer[];
}

/** The longest time a device needs to read the headers of thousands of files. */
const listTimeoutMs = 30_000;

export async function listDisks(ring: Ring, targets: readonly Target[]): Promise<ListedDisks> {
  const listings: DiskListing[] = [];
  const away: SilentServer[] = [];
  await fanOut(targets, async ({ address, required }) => {
    const listing = await orCoded(listDisk(ring, address));
    if (listing instanceof CodedError) {
      if (required) away.push(silentServer(address, listing));
    } else if (listing !== null) listings.push(listing);
  });
  return { listings: listings.sort((a, b) => a.device - b.device), away };
}

/** Returns null if the server is no device of the ring. Throws RING_UNKNOWN, PEER_UNREACHABLE, … */
async function listDisk(ring: Ring, address: string): Promise<DiskListing | null> {
  const { keyspace } = ring;
  // Checked first, so that a lost file is not listed as present.
  const { damaged } = await lookAtFiles(address, keyspace);
  const status = await serverStatus(address, { sizesOf: keyspace });
  const said = status.rings.find((one) => one.ring === keyspace);
  if (said === undefined)
    throw new CodedError('RING_UNKNOWN', `${address} has no ring ${keyspace}`);
  if (said.device === null) return null;
  const bytes = new Map(status.files ?? status.sizes ?? []);
  const partitions = [...bytes.keys()].filter((partition) => partition < ring.partitions);
  const files = new Map<number, DiskFile>();
  await withServer(address, async (server) => {
    for (let at = 0; at < partitions.length; at += digestPartitionsMax) {
      const part = partitions.slice(at, at + digestPartitionsMax);
      const request = { keyspace, ringVersion: said.version, partitions: part };
      const { holdings } = await server.call(digests, request, listTimeoutMs);
      for (const [index, holding] of holdings.entries()) {
        const partition = part[index];
        if (holding === null || partition === undefined) continue;
        const { state, rows } = holding;
        files.set(partition, { state, rows, bytes: bytes.get(partition) ?? 0 });
      }
    }
  });
  const draining = new Map(said.draining.map(({ partition, reason }) => [partition, reason]));
  const { quarantines } = said.held;
  const loads = said.loads.filter(({ assignment }) => assignment === null);
  const refills = new Map(loads.map(({ partition, reason }) => [partition, reason]));
  return { device: said.device, address, files, draining, damaged, quarantines, refills };
}
