// A server whose clock is an hour ahead stores nothing that other servers would refuse, even right
// after its start, when it has not heard from any peer. It deletes nothing before its time either.
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { ServerUnderTest } from '../support/server-under-test.ts';

const hourAhead = 'const now = Date.now; Date.now = () => now() + 3_600_000;';
const node = {
  options: ['--import', `data:text/javascript,${encodeURIComponent(hourAhead)}`],
  environment: {},
};

test('a server whose clock is ahead rejects writes, with or without a connected peer', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 4 });
  const [first, second, third] = cluster.servers;
  const path = `/v1/${keyspace}/key`;
  const put = (server: ServerUnderTest, query: string) =>
    askServer(server.place.port, { method: 'PUT', path: `${path}?${query}`, body: query });
  expect((await put(first!, 'consistency=all')).status).toBe(204);
  await Promise.all(cluster.servers.map((server) => server.kill()));

  const ahead = new ServerUnderTest({ ...first!.place, node });
  cluster.servers[0] = ahead;
  await ahead.start();
  const alone = refusalOf(await put(ahead, 'consistency=one'));
  expect(alone).toMatchObject({ code: 'NOT_ENOUGH_REPLICAS', details: { outcome: 'rejected' } });
  expect(alone.message).toContain('its clock may be wrong');

  await cluster.restart(second!);
  await second!.ready();
  await waitFor('the server that is right to be heard', {
    ask: async () => refusalOf(await put(ahead, 'consistency=one')),
    until: ({ code, details }) => details.outcome !== 'rejected' || code === 'CLOCK_AHEAD',
  });
  for (const query of ['consistency=one', 'consistency=quorum', 'consistency=linearizable']) {
    const refused = refusalOf(await put(ahead, query));
    expect(refused).toMatchObject({ code: 'CLOCK_AHEAD', details: { outcome: 'rejected' } });
  }
  const read = async (port: number) => (await askServer(port, { path })).bytes.toString();
  expect(await read(ahead.place.port)).toBe('consistency=all');
  expect((await put(second!, 'consistency=quorum')).status).toBe(204);
  expect(await read(ahead.place.port)).toBe('consistency=quorum');
  await cluster.restart(third!);
});

test('a server whose clock is ahead keeps dropped files as long as promised', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 4 });
  const [first] = cluster.servers;
  await first!.kill();
  const trash = path.join(first!.place.data, 'trash');
  const hoursAgo = (hours: number): string => `${Date.now() - hours * 3_600_000}.${keyspace}.0.a`;
  const [due, kept] = [hoursAgo(168.5), hoursAgo(167.5)];
  for (const name of [due, kept]) await mkdir(path.join(trash, name), { recursive: true });
  const ahead = new ServerUnderTest({ ...first!.place, node });
  cluster.servers[0] = ahead;
  await ahead.start();
  const left = await waitFor('the older one to be deleted', {
    ask: () => readdir(trash),
    until: (names) => !names.includes(due),
  });
  expect(left).toEqual([kept]);
});
