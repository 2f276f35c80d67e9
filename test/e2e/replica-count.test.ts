// Real servers under live writes: two replicas become three, then two again, and nothing is lost.
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { Traffic } from '../support/traffic.ts';

test('two replicas become three and then two again, under live writes', async () => {
  const cluster = await clusterForTest({ servers: 4, partitions: 8, replicas: 2 });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 23 });
  await traffic.goesOn();
  const proposed = await cluster.commit('set', '--replicas', '3');
  expect(proposed.replicas).toBe(2);
  expect(proposed.moves.filter(({ from }) => from === null)).toHaveLength(8);
  await cluster.builder.json(['rollout', keyspace]);
  const grown = await cluster.head();
  expect(grown).toMatchObject({ replicas: 3, moves: [] });
  await traffic.goesOn();
  await cluster.replicasEqual();
  const cut = await cluster.commit('set', '--replicas', '2');
  expect(cut.replicas).toBe(2);
  await cluster.builder.json(['rollout', keyspace]);
  await traffic.goesOn();
  expect(await traffic.verdict()).toEqual([]);
  expect(await cluster.head()).toMatchObject({ replicas: 2, moves: [] });
});

test('a ring with a past split gains a third replica and loses it again', async () => {
  const partitioner = ['--partitioner', 'ranges'];
  const cluster = await clusterForTest({ servers: 3, replicas: 2, partitioner });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 29 });
  const landed = async (verb: string, ...change: string[]) => {
    await cluster.commit(verb, ...change);
    await cluster.builder.json(['rollout', keyspace]);
    await traffic.goesOn();
    await cluster.replicasEqual();
  };
  await traffic.goesOn();
  await landed('split', '0', '--at', 'key/4');
  await landed('set', '--replicas', '3');
  const { table, replicas } = await cluster.head();
  expect([replicas, table.length]).toEqual([3, 3]);
  await landed('set', '--replicas', '2');
  expect(await traffic.verdict()).toEqual([]);
  expect(await cluster.builder.json(['verify', keyspace])).toMatchObject({ ok: true });
});
