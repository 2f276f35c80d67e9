// Checks whether all replicas are equal, by querying every holder of every partition.
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { digests } from '@ringwright/wire/replication';
import { withServer } from '../../tools/ring-builder/servers/server-connection.ts';
import { type Trusted, withProofs } from '../../tools/ring-builder/servers/server-proofs.ts';

export type { Trusted };

/**
 * Returns everything that keeps the replicas of a ring without moves from being equal, as
 * sentences. `trusted` is for servers that prove their identity and require a token.
 */
export async function unequalReplicas(ring: Ring, trusted?: Trusted): Promise<string[]> {
  if (trusted === undefined) return unequalIn(ring);
  let unequal: string[] = [];
  await withProofs(trusted, { tell: () => undefined }, async () => {
    unequal = await unequalIn(ring);
    return { json: unequal, lines: [] };
  });
  return unequal;
}

async function unequalIn(ring: Ring): Promise<string[]> {
  const partitions = Array.from({ length: ring.partitions }, (_, partition) => partition);
  const held = new Map<number, Awaited<ReturnType<typeof holdingsOn>>>();
  for (const device of ring.devices) {
    if (device === null) continue;
    // A device that does not answer holds nothing, which is a fault if the ring counts on it.
    const holdings = await holdingsOn(ring, { port: device.port, partitions }).catch(() => []);
    held.set(device.id, holdings);
  }
  return partitions.flatMap((partition) => {
    const holders = slotsOf(ring, partition).map(({ device }) => device);
    const there = holders.map((id) => held.get(id)?.[partition] ?? null);
    const waiting = there.some((holding) => holding?.state !== 'ready');
    const kinds = new Set(there.map((holding) => holding?.digest));
    const surplus = [...held].filter(([id, all]) => !holders.includes(id) && all[partition]);
    const names = surplus.map(([id]) => `d${id}`).join(' ');
    return [
      ...(waiting ? [`partition ${partition}: ${JSON.stringify(there)}`] : []),
      ...(kinds.size > 1 ? [`partition ${partition}: digests ${[...kinds].join(' ')}`] : []),
      ...(surplus.length > 0 ? [`partition ${partition}: still on ${names}`] : []),
    ];
  });
}

async function holdingsOn(
  { keyspace, version }: Ring,
  { port, partitions }: { readonly port: number; readonly partitions: number[] },
) {
  return withServer(`127.0.0.1:${port}`, async (server) => {
    const request = { keyspace, ringVersion: version, partitions };
    return (await server.call(digests, request, 5_000)).holdings;
  });
}
