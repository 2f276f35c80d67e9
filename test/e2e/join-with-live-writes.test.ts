// Servers join while clients write and read: real processes, and every answer is recorded and
// checked.
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { Traffic } from '../support/traffic.ts';

interface Plan {
  readonly moveLowerBound: number;
  readonly moves: readonly unknown[];
}

interface Rollout {
  readonly version: number;
  readonly moved: number;
  readonly verified: number;
  readonly copied: { readonly partitions: number };
  readonly left: readonly unknown[];
}

test('two servers join under load with the fewest moves and without losing a record', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 32 });
  const { builder } = cluster;
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 4 });
  await traffic.goesOn();
  for (const name of ['fourth', 'fifth']) {
    const joiner = await cluster.addServer();
    await builder.json(['add', keyspace, joiner.text, '1']);
    const plan = await builder.json<Plan>(['plan', keyspace]);
    expect(plan.moves).toHaveLength(plan.moveLowerBound);
    await traffic.within(`the ${name} joins`, async () => {
      await builder.json(['commit', keyspace, '-m', `the ${name} joins`]);
      await cluster.push();
      const rollout = await builder.json<Rollout>(['rollout', keyspace]);
      expect(rollout).toMatchObject({ moved: plan.moveLowerBound, left: [] });
      // A partition that is still empty is not copied.
      expect(rollout.verified).toBeGreaterThan(plan.moveLowerBound / 2);
      expect(rollout.verified).toBeLessThanOrEqual(plan.moveLowerBound);
      expect(rollout.copied.partitions).toBe(plan.moveLowerBound);
      await traffic.goesOn();
    });
    const statuses = await Promise.all(cluster.servers.map((server) => server.status()));
    for (const { rings } of statuses) {
      expect(rings[0]).toMatchObject({ notReady: 0, surplus: 0, draining: [], loads: [] });
    }
    const serving = statuses.map(({ rings }) => rings[0]?.serving ?? 0);
    const [least, most] = [Math.min(...serving), Math.max(...serving)];
    expect(serving.reduce((sum, count) => sum + count, 0)).toBe(32 * 3);
    expect(most - least).toBeLessThanOrEqual(1);
  }
  expect(await traffic.verdict()).toEqual([]);
  expect(traffic.failures()).toEqual([]);
});
