// A ring takes partitions away without moves: the drops are held until an operator confirms them,
// even across a SIGKILL.

import { waitFor } from '@ringwright/node/wait-for';
import { confirmDrops } from '@ringwright/wire/trash';
import { expect, test } from 'vitest';
import { withServer } from '../../tools/ring-builder/servers/server-connection.ts';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';
import { Traffic } from '../support/traffic.ts';

const timeoutMs = 20_000;

async function ringOf(server: ServerUnderTest) {
  const [ring] = (await server.status()).rings;
  if (ring === undefined) throw new Error(`${server.place.device} has no ring`);
  return ring;
}

async function letAllGo(cluster: Cluster): Promise<void> {
  for (const server of cluster.servers.slice(0, 3)) {
    const { id: ringId } = await heldBy(server);
    await withServer(server.address, (caller) =>
      caller.call(confirmDrops, { keyspace, ringId, count: 16 }, timeoutMs),
    );
  }
}

/** Waits until the server holds back and reports the drops of 16 of its 64 partitions. */
function heldBy(server: ServerUnderTest) {
  return waitFor(`${server.place.device} to hold its drops`, {
    ask: () => ringOf(server),
    until: ({ held, draining }) => held.drops === 16 && draining.length === 16,
  });
}

/**
 * Starts three servers. A table without moves then gives some of their partitions to a fourth
 * server, as if by mistake.
 */
async function mistaken(): Promise<Cluster> {
  const cluster = await clusterForTest({ servers: 3, partitions: 64 });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 9 });
  await traffic.goesOn();
  expect(await traffic.verdict()).toEqual([]);
  const joiner = await cluster.addServer();
  await cluster.builder.json(['add', keyspace, joiner.text, '1']);
  const insisting = ['--direct', '--yes', '--override', 'nobody asked'];
  await cluster.builder.json(['commit', keyspace, '-m', 'a mistake', ...insisting]);
  await cluster.push();
  return cluster;
}

test('drops without moves wait for a confirmation with the right ring and count', async () => {
  const cluster = await mistaken();
  const [first] = cluster.servers;
  for (const server of cluster.servers.slice(0, 3)) await heldBy(server);
  const held3 = { kind: 'drops held', command: `ring-builder trash ${keyspace} confirm` };
  const { exit, document } = await cluster.builder.answer(`health ${keyspace}`);
  expect([exit, document['troubles']]).toMatchObject([1, [held3, held3, held3]]);
  await first!.kill();
  await cluster.restart(first!);
  const { held, draining, surplus, id: ringId } = await ringOf(first!);
  expect({ held, surplus }).toEqual({ held: { drops: 16, quarantines: 0 }, surplus: 16 });
  const { bytes } = await askServer(first!.place.port, { path: '/metrics' });
  expect(bytes.toString()).toContain(`ringwright_held_drops{ring="${keyspace}"} 16`);
  expect(draining[0]?.reason).toContain(`ring-builder trash ${keyspace} confirm`);
  await withServer(first!.address, async (caller) => {
    const wrong = [
      { ringId, count: 15 },
      { ringId: '0'.repeat(64), count: 16 },
    ];
    for (const shown of wrong) {
      const refused = caller.call(confirmDrops, { keyspace, ...shown }, timeoutMs);
      await expect(refused).rejects.toMatchObject({ code: 'DROPS_DIFFER' });
    }
  });
  await letAllGo(cluster);
  for (const server of cluster.servers) {
    await waitFor(`${server.place.device} to have dropped them`, {
      ask: () => ringOf(server),
      until: (ring) => ring.surplus === 0 && ring.held.drops === 0,
    });
  }
});
