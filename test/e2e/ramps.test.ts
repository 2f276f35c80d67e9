// A device is drained in steps that follow one another by themselves, under load.
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { Traffic } from '../support/traffic.ts';

test('rollout --follow carries out a ramp to its end, one step after another', {
  timeout: 60_000,
}, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16, replicas: 2 });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 11 });
  await traffic.goesOn();
  await traffic.within('a ramp of two steps', async () => {
    await cluster.commit('ramp', 'd2', '0', '--percent', '50');
    const followed = await cluster.builder.json(['rollout', keyspace, '--follow']);
    expect(followed).toMatchObject({ end: 'done', steps: 2, left: [], movesLeft: 0 });
    await traffic.goesOn();
  });
  const { table, devices } = await cluster.head();
  expect(devices[2]).toMatchObject({ weight: 0 });
  expect(new Set(table.flatMap((row) => [...row]))).toEqual(new Set([0, 1]));
  expect(await traffic.verdict()).toEqual([]);
  expect(traffic.failures()).toEqual([]);
});
