// Two of three disks are lost, and both servers come back at new addresses. The third one lacks
// records that the other two acknowledged, so nobody may say that there is no such record.
import fs from 'node:fs/promises';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

const write = (port: number, key: string) =>
  askServer(port, { method: 'PUT', path: `/v1/${keyspace}/${key}`, body: 'value' });
const read = async (port: number, key: string): Promise<number> =>
  (await askServer(port, { path: `/v1/${keyspace}/${key}` })).status;

const isLostTwice = ({ reason }: { readonly reason: string | null }): boolean =>
  reason?.includes('is lost too') === true;

/** Kills the server of each device, and starts one for it at another address on an empty disk. */
async function moveWiped(cluster: Cluster, devices: readonly number[]): Promise<ServerUnderTest[]> {
  const ring = await cluster.head();
  const ports = await freePorts(devices.length);
  return Promise.all(
    devices.map(async (device, index) => {
      const old = cluster.serverOf(ring, device);
      const port = ports[index] ?? 0;
      await old.kill();
      await fs.rm(old.place.data, { recursive: true });
      const server = new ServerUnderTest({ ...old.place, port });
      cluster.servers[cluster.servers.indexOf(old)] = server;
      await server.start();
      return server;
    }),
  );
}

test('records of two lost disks are unknown, not absent, until an operator decides', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 4 });
  const ring = await cluster.head();
  const [third, second] = [0, 1].map((device) => cluster.serverOf(ring, device));
  const early = Array.from({ length: 12 }, (_, index) => `early/${index}`);
  const late = Array.from({ length: 8 }, (_, index) => `late/${index}`);
  for (const key of early) expect((await write(third!.place.port, key)).status).toBe(204);
  await cluster.replicasEqual();
  await third!.kill();
  for (const key of late) expect((await write(second!.place.port, key)).status).toBe(204);

  const moved = await moveWiped(cluster, [1, 2]);
  await cluster.restart(third!);
  for (const [index, { place }] of moved.entries()) {
    await cluster.quickly(['set-device', keyspace, `d${index + 1}`, '--port', String(place.port)]);
  }
  await cluster.quickly(['commit', keyspace, '-m', 'new machines']);
  // By default a push waits for a while until all partitions can be read. Here two copies cannot.
  await cluster.quickly(['push', keyspace, '--wait', 'zone']);
  for (const server of moved) {
    await waitFor(`${server.place.device} to find the other copy lost too`, {
      ask: async () => (await server.status()).rings[0]?.loads ?? [],
      until: (loads) => loads.length === 4 && loads.every((one) => isLostTwice(one)),
    });
  }
  for (const key of late) expect(await read(third!.place.port, key)).toBe(503);

  const force = ['moves', keyspace, 'force', 'all', '--reason', 'both disks are gone', '--yes'];
  await cluster.quickly(force);
  for (const server of moved) await server.ready();
  for (const key of early) expect(await read(moved[0]!.place.port, key)).toBe(200);
});
