// Servers are stopped in order, one after another, while a client writes: the client learns the
// outcome of each write. A server also ends if its disk hangs.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { connect } from '@ringwright/client/connect';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

/** Waits until the server is ready, as a script does before it stops the next server. */
async function readyForRequests({ address, place }: ServerUnderTest): Promise<void> {
  await waitFor(`${address} to be ready`, {
    ask: () => askServer(place.port, { path: '/readyz' }),
    until: ({ status }) => status === 200,
    deadlineMs: 10_000,
  });
}

test('no write of a client fails while servers are stopped one after another', async () => {
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
  // A server becomes ready even if there is no other server to wait for.
  await Promise.all(cluster.servers.map((server) => server.stop()));
  const [survivor, ...others] = cluster.servers;
  await cluster.restart(survivor!);
  await readyForRequests(survivor!);
  for (const server of others) await cluster.restart(server);
}, 120_000);

// Nobody ever writes to the pipe, so the call stays in the thread pool, as one of a hung disk does.
const hang = "import { open } from 'node:fs'; open(process.env.PIPE, 'r', () => undefined);";

test('a server that is stopped while a call of its disk never returns ends itself', async () => {
  const cluster = await clusterForTest({ servers: 1, partitions: 4, replicas: 1 });
  const [server] = cluster.servers;
  await server!.stop();
  const pipe = path.join(server!.place.data, '../pipe');
  execFileSync('mkfifo', [pipe]);
  const node = {
    options: ['--import', `data:text/javascript,${encodeURIComponent(hang)}`],
    environment: { PIPE: pipe },
  };
  const hung = new ServerUnderTest({ ...server!.place, node });
  cluster.servers[0] = hung;
  await hung.start();
  expect(await hung.stop(), 'ended by SIGKILL').toBeNull();
  expect(hung.logText()).toContain('stopped: ');
  cluster.servers[0] = server!;
  await cluster.restart(server!);
});
