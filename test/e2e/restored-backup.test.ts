// Data directories are copied and later restored from that backup: a single one refills, because
// its peers remember a later generation, but all of them together are simply an older state.
import fs from 'node:fs/promises';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';

const keys = Array.from({ length: 24 }, (_, index) => `kept/${index}`);
const refills = 'data restored from a backup: it refills';

/**
 * Writes every key, or for null deletes every third key. The requests need all holders, so each is
 * repeated while servers that have just started are not yet connected.
 */
async function write(cluster: Cluster, value: string | null): Promise<void> {
  for (const [index, key] of keys.entries()) {
    if (value === null && index % 3 > 0) continue;
    const method = value === null ? 'DELETE' : 'PUT';
    const path = `/v1/${keyspace}/${key}?consistency=all`;
    const ports = cluster.ports();
    const port = ports[index % ports.length] ?? 0;
    const body = value === null ? {} : { body: value };
    await waitFor(`${method} of ${key}`, {
      ask: async () => (await askServer(port, { method, path, ...body })).status,
      until: (status) => status === 204,
    });
  }
}

/** Returns what this server alone answers; an empty text if it has no such key. */
function readAll({ place }: ServerUnderTest): Promise<string[]> {
  return Promise.all(
    keys.map(async (key) => {
      const path = `/v1/${keyspace}/${key}?consistency=one`;
      const { status, bytes } = await askServer(place.port, { path });
      return status === 404 ? '' : bytes.toString();
    }),
  );
}

async function copyAside({ place }: ServerUnderTest): Promise<void> {
  await fs.cp(place.data, `${place.data}.backup`, { recursive: true });
}

async function putBack({ place }: ServerUnderTest): Promise<void> {
  await fs.rm(place.data, { recursive: true });
  await fs.cp(`${place.data}.backup`, place.data, { recursive: true });
}

const expected = keys.map((_, index) => (index % 3 === 0 ? '' : 'after'));

test('a directory restored from a backup refills, each time it is restored', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const [restored] = cluster.servers;
  await write(cluster, 'before');
  expect(await restored!.stop()).toBe(0);
  await copyAside(restored!);
  await cluster.restart(restored!);
  await restored!.ready();
  await write(cluster, 'after');
  await write(cluster, null);
  const said = () => restored!.logLines().filter(({ msg }) => msg === refills);
  for (const _time of [1, 2]) {
    await restored!.kill();
    const before = said().length;
    await putBack(restored!);
    await cluster.restart(restored!);
    await restored!.ready();
    // A second peer may remember more than the first: what it heard before the kill.
    expect(said()[before]).toMatchObject({ partitions: 8 });
    expect(said().length - before, 'one for each peer at most').toBeLessThanOrEqual(2);
    expect(await readAll(restored!)).toEqual(expected);
  }
});

test('a backup of all servers is accepted, because no peer has newer records', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  await write(cluster, 'before');
  for (const server of cluster.servers) expect(await server.stop()).toBe(0);
  for (const server of cluster.servers) await copyAside(server);
  for (const server of cluster.servers) await cluster.restart(server);
  for (const server of cluster.servers) await server.ready();
  await write(cluster, 'after');
  for (const server of cluster.servers) await server.kill();
  for (const server of cluster.servers) await putBack(server);
  for (const server of cluster.servers) await cluster.restart(server);
  for (const server of cluster.servers) {
    await server.ready();
    expect(await readAll(server)).toEqual(keys.map(() => 'before'));
    expect(server.logText()).not.toContain(refills);
  }
});

test('a backup from before a ring makes its partitions lost, not new', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const [first, second, restored] = cluster.servers;
  expect(await restored!.stop()).toBe(0);
  await copyAside(restored!);
  await cluster.restart(restored!);
  await restored!.ready();
  const create = ['create', 'other', '--partitions', '4', '--replicas', '3'];
  await cluster.quickly([...create, '--min-part-hours', '0']);
  await cluster.quickly(['add', 'other', ...cluster.servers.flatMap(({ text }) => [text, '1'])]);
  await cluster.quickly(['commit', 'other', '-m', 'first']);
  await cluster.quickly(['push', 'other']);
  for (const server of cluster.servers) {
    await waitFor('the new ring to be served', {
      ask: () => server.status(),
      until: ({ ready, rings }) => ready && rings.length === 2,
    });
  }
  expect(await first!.stop()).toBe(0);
  const path = '/v1/other/k';
  const put = { method: 'PUT', path, body: 'acknowledged' } as const;
  expect((await askServer(second!.place.port, put)).status, 'by the second and the third').toBe(
    204,
  );
  await second!.kill();
  await restored!.kill();
  await putBack(restored!);
  await cluster.restart(first!);
  await cluster.restart(restored!);
  const { rings } = await waitFor('the ring to come from the first', {
    ask: () => restored!.status(),
    until: (status) =>
      status.rings.some(({ ring, loads }) => ring === 'other' && loads.length === 4),
  });
  expect(rings).toHaveLength(2);
  const health = await cluster.builder.answer<{ troubles: { kind: string; address: string }[] }>(
    'health',
  );
  const told = health.document.troubles.filter(({ kind }) => kind === 'put back');
  expect(told.map(({ address }) => address)).toContain(restored!.address);
  expect((await askServer(first!.place.port, { path })).status).toBe(503);
  await cluster.restart(second!);
  await restored!.ready();
  const read = await askServer(first!.place.port, { path });
  expect(read.bytes.toString(), String(read.status)).toBe('acknowledged');
  await waitFor('it to count as put back no longer', {
    ask: () => restored!.status(),
    until: (status) => !status.putBack,
  });
  expect(await fs.readdir(restored!.place.data)).not.toContain('put-back');
});
