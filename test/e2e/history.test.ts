// Real servers under live writes: a change is reverted half-way and after its completion, a removed
// device leaves the ring at the end of its rollout, and a ring is restored from a server's copy.
import { join } from 'node:path';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { Traffic } from '../support/traffic.ts';

function holdersByPartition({ table, partitions }: Ring): number[][] {
  return Array.from({ length: partitions }, (_, partition) =>
    table.flatMap((row) => row[partition] ?? []).sort((a, b) => a - b),
  );
}

test('no write is lost by a revert, removal or restore', { timeout: 180_000 }, async () => {
  const cluster = await clusterForTest({ servers: 5, partitions: 16, replicas: 3 });
  const { builder } = cluster;
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 31 });
  await traffic.goesOn();
  const first = await cluster.head();

  // Half-way: no move is finalized, so nothing is copied back.
  const proposed = await cluster.commit('set-weight', 'd4', '0');
  expect(proposed.moves.length).toBeGreaterThan(0);
  const plan = await builder.json(`revert ${keyspace} 1`);
  expect(plan).toMatchObject({ to: 1, cancels: proposed.moves.length, moved: 0, changed: true });
  expect((await cluster.head()).version).toBe(proposed.version);
  const digest = String(plan['digest']);
  const args = ['revert', keyspace, '1', '-m', 'not now', '--plan', digest];
  expect(await builder.json(args)).toMatchObject({ cancelled: proposed.moves.length });
  await builder.json(['rollout', keyspace]);
  expect(holdersByPartition(await cluster.head())).toEqual(holdersByPartition(first));

  // After completion: every slot moves back, wave by wave.
  await cluster.commit('set-weight', 'd4', '0');
  await builder.json(['rollout', keyspace]);
  await traffic.goesOn();
  await builder.json(['revert', keyspace, '1', '-m', 'it is needed after all']);
  await builder.json(['rollout', keyspace]);
  const back = await cluster.head();
  expect(holdersByPartition(back)).toEqual(holdersByPartition(first));
  expect(back.devices[4]?.weight).toBe(1);
  await traffic.goesOn();

  // The plan states bytes, based on what the servers hold.
  await builder.json(['remove', keyspace, 'd0']);
  const removal = await builder.json(`plan ${keyspace} --rate 10MB/s`);
  expect(removal).toMatchObject({ asked: 5, answered: 5, traffic: { guessed: 0 } });
  const drill = await builder.json(`drill ${keyspace} device d0`);
  expect(drill).toMatchObject({ availability: { belowWriteQuorum: 0 }, fits: true });
  await builder.json(['commit', keyspace, '-m', 'd0 goes']);
  expect((await cluster.head()).devices[0]).not.toBe(null);
  await builder.json(['rollout', keyspace]);
  const left = await cluster.head();
  expect(left.devices[0]).toBe(null);
  const { servers } = await builder.json<{ servers: unknown[] }>(['servers', keyspace]);
  expect(servers).toHaveLength(4);
  await traffic.goesOn();
  expect(await traffic.verdict()).toEqual([]);

  const server = `127.0.0.1:${left.devices[1]?.port}`;
  const anew = ['--rings', 'anew'];
  await builder.json(['restore', keyspace, '--from', server, ...anew]);
  const restored = await readVersion(join(cluster.folder, 'anew'), keyspace, 'head');
  const kept = await readVersion(cluster.rings, keyspace, 'head');
  expect(restored.bytes).toEqual(kept.bytes);
  expect(restored.state).toEqual(kept.state);
  expect(await builder.json(['verify', keyspace, ...anew])).toMatchObject({ ok: true });
});
