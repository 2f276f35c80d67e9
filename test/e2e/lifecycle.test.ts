// Devices over time, with real servers under load: down and back after changes, replaced one for
// one, and a second change during a running one.
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { Traffic } from '../support/traffic.ts';

const slow = { timeout: 180_000 };

test('a server that is down stays in the ring, and rejoins after a change', slow, async () => {
  const cluster = await clusterForTest({ servers: 4, partitions: 16 });
  const { builder } = cluster;
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 61 });
  await traffic.goesOn();
  const before = await cluster.head();
  const down = cluster.servers[1]!;
  let moved = 0;
  await traffic.within('one server is away for long', async () => {
    await down.kill();
    await traffic.goesOn();
    const port = cluster.ports()[0]!;
    const statuses = await Promise.all(
      Array.from({ length: 16 }, async (_, index) => {
        const path = `/v1/${keyspace}/away/${index}?consistency=all`;
        return (await askServer(port, { method: 'PUT', path, body: 'x' })).status;
      }),
    );
    expect(statuses, 'its slots answer with errors').toContain(503);
    const waits = await builder.run(['rollout', keyspace, '--stall-timeout', '1', '--json']);
    expect(waits.exit).toBe(4);
    expect((await cluster.head()).version, 'nobody removes it').toBe(before.version);

    const joiner = await cluster.addServer();
    const proposed = await cluster.commit('add', joiner.text, '1');
    const args = ['rollout', keyspace, '--skip-down', '--stall-timeout', '3', '--json'];
    const rollout = await builder.run(args);
    expect(rollout.exit, rollout.stderr).toBe(4);
    moved = proposed.moves.length;
    expect(JSON.parse(rollout.stdout)).toMatchObject({ moved, end: 'drains', inFlight: 0 });
    await traffic.goesOn();
  });
  await cluster.restart(down);
  expect(await builder.json(['rollout', keyspace])).toMatchObject({ end: 'done', left: [] });
  await traffic.goesOn();
  expect(await traffic.verdict()).toEqual([]);
  expect(await builder.json(['reconcile', keyspace])).toMatchObject({ findings: [] });
  const { receipts } = await builder.json<{ receipts: object }>(['verify', keyspace]);
  expect(receipts).toMatchObject({ moves: moved, receipts: moved });
});

test(
  'a replacement receives the slots of the replaced device, and no other slot moves',
  slow,
  async () => {
    const cluster = await clusterForTest({ servers: 4, partitions: 16 });
    const { builder } = cluster;
    const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 62 });
    await traffic.goesOn();
    const old = cluster.servers[2]!;
    const fresh = await cluster.addServer();
    await builder.json(['add', keyspace, fresh.text, '1']);
    const ring = await cluster.commit('remove', `127.0.0.1:${old.place.port}/${old.place.device}`);
    const held = ring.table.flatMap((row) => [...row]).filter((device) => device === 2).length;
    expect(ring.moves.map(({ from, to }) => [from, to])).toEqual(Array(held).fill([2, 4]));
    await traffic.within('a device is replaced', async () => {
      const rollout = await builder.json(['rollout', keyspace, '--max-moves', '5']);
      expect(rollout).toMatchObject({ moved: held, end: 'done', left: [] });
    });
    expect((await cluster.head()).devices[2]).toBeNull();
    await traffic.goesOn();
    expect(await traffic.verdict()).toEqual([]);
  },
);

test('a second change joins a running one on other partitions, or is refused', slow, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 32 });
  const { builder } = cluster;
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 63 });
  await traffic.goesOn();
  const first = await cluster.addServer();
  await cluster.commit('add', first.text, '1');
  const stepped = await builder.json(['rollout', keyspace, '--step']);
  expect(stepped).toMatchObject({ end: 'step', moved: 0 });
  const running = await cluster.head();
  expect(running.moves.map(({ state }) => state)).toContain('INITIALIZING');

  const device = `127.0.0.1:${first.place.port}/${first.place.device}`;
  await builder.json(['remove', keyspace, device]);
  const refused = await builder.run(['commit', keyspace, '-m', 'no', '--json']);
  expect(JSON.parse(refused.stderr)).toMatchObject({ code: 'MOVES_IN_FLIGHT' });
  await builder.json(['unstage', keyspace]);

  const second = await cluster.addServer();
  const both = await cluster.commit('add', second.text, '1');
  const moving = new Set(running.moves.map(({ partition }) => partition));
  const added = both.moves.filter(({ to }) => to === 4);
  expect(added.length).toBeGreaterThan(0);
  expect(added.filter(({ partition }) => moving.has(partition))).toEqual([]);
  await traffic.within('two changes at once', async () => {
    const rollout = await builder.json(['rollout', keyspace]);
    expect(rollout).toMatchObject({ end: 'done', left: [], inFlight: 0 });
  });
  const held = (id: number, table: readonly ArrayLike<number>[]): number =>
    table.flatMap((row) => Array.from(row)).filter((one) => one === id).length;
  const { table } = await cluster.head();
  const counts = [0, 1, 2, 3, 4].map((id) => held(id, table));
  expect(Math.max(...counts) - Math.min(...counts), counts.join()).toBeLessThanOrEqual(1);
  await traffic.goesOn();
  expect(await traffic.verdict()).toEqual([]);
});
