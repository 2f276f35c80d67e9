// Lost devices: one is dead for good and removed from the ring, another has lost its data folder.
import fs from 'node:fs/promises';
import { waitFor } from '@ringwright/node/wait-for';
import type { RingStatus } from '@ringwright/server/status/status';
import { expect, test } from 'vitest';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';
import { Traffic } from '../support/traffic.ts';

const keys = Array.from({ length: 60 }, (_, index) => `kept/${index}`);

async function writeAll(cluster: Cluster, level: string): Promise<void> {
  for (const [index, key] of keys.entries()) {
    const ports = cluster.ports();
    const path = `/v1/${keyspace}/${key}?consistency=${level}`;
    const port = ports[index % ports.length] ?? 0;
    const { status } = await askServer(port, { method: 'PUT', path, body: `value of ${key}` });
    expect(status).toBe(204);
  }
}

async function expectAll(cluster: Cluster, level: string): Promise<void> {
  for (const port of cluster.ports()) {
    for (const key of keys) {
      const answer = await askServer(port, { path: `/v1/${keyspace}/${key}?consistency=${level}` });
      expect(answer.bytes.toString()).toBe(`value of ${key}`);
    }
  }
}

test('slots of a dead server are rebuilt, and its files are dropped if it returns', async () => {
  const cluster = await clusterForTest({ servers: 4, partitions: 16 });
  await writeAll(cluster, 'quorum');
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 44 });
  await traffic.goesOn();
  const [, dead] = cluster.servers;
  await traffic.within('a device is dead and removed', async () => {
    await dead!.kill();
    await traffic.goesOn();
    const ring = await cluster.commit(
      'remove',
      `127.0.0.1:${dead!.place.port}/${dead!.place.device}`,
    );
    expect(ring.moves).toHaveLength(12);
    const rollout = await cluster.builder.json(['rollout', keyspace, '--skip-down']);
    expect(rollout).toMatchObject({ moved: 12, left: [] });
  });
  await traffic.within('it comes back', () => givesUpItsFiles(cluster, dead!));
  expect(await traffic.verdict()).toEqual([]);
  await expectAll(cluster, 'quorum');
  await expectAll(cluster, 'all');
});

/** The ring no longer names the server: it holds its files until an operator confirms the drops. */
async function givesUpItsFiles(cluster: Cluster, server: ServerUnderTest): Promise<void> {
  await cluster.restart(server);
  const ringWhere = (what: string, until: (ring: RingStatus) => boolean) =>
    waitFor(`${server.place.device} to ${what}`, {
      ask: async () => (await server.status()).rings[0]!,
      until,
    });
  const { device, draining } = await ringWhere('hold its drops', ({ held }) => held.drops === 12);
  expect(device).toBeNull();
  const confirm = `trash ${keyspace} confirm --to ${server.address}`;
  expect(draining[0]?.reason).toContain(`does not name this server; ring-builder ${confirm}`);
  const { exit, stderr } = await cluster.builder.run(confirm);
  expect([exit, stderr]).toEqual([5, expect.stringContaining(`${confirm} --yes`)]);
  const { document } = await cluster.builder.answer(`${confirm} --yes`);
  expect(document).toMatchObject({ files: 12, changed: true });
  await ringWhere('have given its files up', ({ surplus }) => surplus === 0);
  const trash = await cluster.builder.json(['trash', keyspace, 'list', '--to', server.address]);
  const items = trash['items'] as { address: string }[];
  expect(items.filter(({ address }) => address === server.address)).toHaveLength(12);
}

test('a server with a deleted data folder refills and never reports an unknown key', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  await writeAll(cluster, 'all');
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 3 });
  await traffic.goesOn();
  const [wiped] = cluster.servers;
  const { port, data } = wiped!.place;
  await traffic.within('a device is wiped', async () => {
    await wiped!.kill();
    await fs.rm(data, { recursive: true });
    await cluster.restart(wiped!);
    let answered = 0;
    for (let asked = 0; answered < keys.length; asked += 1) {
      const level = asked % 2 === 0 ? 'one' : 'quorum';
      const path = `/v1/${keyspace}/${keys[answered]}?consistency=${level}`;
      const answer = await askServer(port, { path });
      if (answer.status === 200) answered += 1;
      else expect(refusalOf(answer).code).not.toBe('KEY_UNKNOWN');
    }
    await wiped!.ready();
    await traffic.goesOn();
  });
  expect(await traffic.verdict()).toEqual([]);
  const { rings } = await wiped!.status();
  expect(rings[0]).toMatchObject({ serving: 16, notReady: 0 });
  expect(rings[0]?.rows).toBeGreaterThanOrEqual(keys.length);
  await expectAll(cluster, 'one');
});
