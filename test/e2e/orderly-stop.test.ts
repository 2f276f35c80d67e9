// Servers that are stopped in order, one after the other, under a client that writes: it hears of
// each write what became of it.
import { connect } from '@ringwright/client/connect';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';

test('no write of a client is lost sight of while servers are stopped', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  await Promise.all(cluster.servers.map((server) => server.ready()));
  const addresses = cluster.servers.map(({ address }) => address);
  await using client = await connect(addresses, { keyspace });
  const failed: unknown[] = [];
  let [written, goesOn] = [0, true];
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let at = 0; goesOn; at += 1) {
      await client.put(`${writer}/${at % 40}`, `${at}`).then(
        () => void (written += 1),
        (error: unknown) => void failed.push(error),
      );
    }
  });
  for (let round = 0; round < 3; round += 1) {
    for (const server of cluster.servers) {
      expect(await server.stop()).toBe(0);
      await cluster.restart(server);
      await server.ready();
      await waitFor('all to be connected to each other again', {
        ask: () => Promise.all(cluster.servers.map((one) => one.status())),
        until: (all) => all.every(({ peers }) => peers.filter((one) => one.connected).length === 2),
      });
    }
  }
  goesOn = false;
  await Promise.all(writers);
  expect(failed).toEqual([]);
  expect(written).toBeGreaterThan(100);
}, 120_000);
