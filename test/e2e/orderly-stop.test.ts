// Servers that are stopped in order, one after the other, under a client that writes: it hears of
// each write what became of it.
import { connect } from '@ringwright/client/connect';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';

/** As a script knows it that stops the next one then. */
async function readyForRequests({ address, place }: ServerUnderTest): Promise<void> {
  await waitFor(`${address} to be ready`, {
    ask: () => askServer(place.port, { path: '/readyz' }),
    until: ({ status }) => status === 200,
    deadlineMs: 10_000,
  });
}

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
  for (let round = 0; round < 2; round += 1) {
    for (const server of cluster.servers) {
      expect(await server.stop()).toBe(0);
      await cluster.restart(server);
      await readyForRequests(server);
    }
  }
  goesOn = false;
  await Promise.all(writers);
  expect(failed).toEqual([]);
  expect(written).toBeGreaterThan(100);
  // With nobody left to wait for, one becomes ready all the same.
  await Promise.all(cluster.servers.map((server) => server.stop()));
  const [survivor, ...others] = cluster.servers;
  await cluster.restart(survivor!);
  await readyForRequests(survivor!);
  for (const server of others) await cluster.restart(server);
}, 120_000);
