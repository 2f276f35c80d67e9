// What servers do after their clocks have been set back by an hour.
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

const hourAhead = 'const now = Date.now; Date.now = () => now() + 3_600_000;';
/** The clock goes back by an hour when the file appears. */
const setBack = (file: string): string =>
  `import fs from 'node:fs'; const now = Date.now; const file = ${JSON.stringify(file)};
   Date.now = () => now() - (fs.existsSync(file) ? 3_600_000 : 0);`;

/** Starts all servers again, with this script before them, or none. */
async function restartAll(cluster: Cluster, script: string | null): Promise<void> {
  for (const [index, { place }] of cluster.servers.entries()) {
    await cluster.servers[index]!.kill();
    const { node: _, ...plain } = place;
    const preload = `data:text/javascript,${encodeURIComponent(script ?? '')}`;
    const node = { options: ['--import', preload], environment: {} };
    cluster.servers[index] = new ServerUnderTest(script === null ? plain : { ...plain, node });
  }
  await Promise.all(cluster.servers.map((server) => server.start()));
}

test('the uptime of a server is not affected by setting its clock', async () => {
  const cluster = await clusterForTest({ servers: 2, partitions: 2, replicas: 2 });
  const file = path.join(cluster.folder, 'set-back');
  await restartAll(cluster, setBack(file));
  await writeFile(file, '');
  const status = await cluster.servers[0]!.status();
  expect(status.nowMs).toBeLessThan(Date.now() - 3_000_000);
  expect(status.uptimeMs, 'health counts on it').toBeGreaterThan(0);
});

test('if all clocks were ahead, an archive carries the records to new data directories', {
  timeout: 120_000,
}, async () => {
  const cluster = await clusterForTest({ servers: 2, partitions: 2, replicas: 2 });
  const ask = (method: 'GET' | 'PUT', body?: string) =>
    askServer(cluster.servers[0]!.place.port, {
      method,
      path: `/v1/${keyspace}/key`,
      ...(body && { body }),
    });
  await restartAll(cluster, hourAhead);
  await waitFor('the servers to have met', {
    ask: () => ask('PUT', 'ahead'),
    until: ({ status }) => status === 204,
  });
  await restartAll(cluster, null);
  const isBehind = await waitFor('the servers to have met', {
    ask: async () => refusalOf(await ask('PUT', 'too early')),
    until: ({ code }) => code === 'CLOCK_BEHIND',
  });
  expect(isBehind.details).toMatchObject({ outcome: 'rejected' });
  const folder = path.join(cluster.folder, 'archive');
  await cluster.quickly(['archive-data', keyspace, '--to', folder]);
  for (const server of cluster.servers) {
    await server.kill();
    await rename(server.place.data, `${server.place.data}-old`);
  }
  await restartAll(cluster, null);
  await cluster.push();
  await cluster.quickly(['restore-data', keyspace, '--from', folder]);
  expect((await ask('GET')).bytes.toString()).toBe('ahead');
  expect((await ask('PUT', 'now')).status).toBe(204);
});
