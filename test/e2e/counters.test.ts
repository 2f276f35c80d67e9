// Counters on real servers: clients increment them by conditional writes while servers are killed
// and the ring changes. No increment is lost or counted twice, and all answers agree on one order.
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { Counters } from '../support/counters.ts';

const seed = Number(process.env.SEED ?? 1);

test('counters stay exact while servers are killed and one joins', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 4 });
  const ports = () => cluster.ports();
  const counters = new Counters({ keyspace, ports, seed, keys: 3, clients: 5 });
  await counters.goesOn(40);
  const [first, second] = cluster.servers;
  await first!.kill();
  await counters.goesOn(20);
  await cluster.restart(first!);
  await counters.goesOn(10);
  const joiner = await cluster.addServer();
  await cluster.builder.json(['add', keyspace, joiner.text, '1']);
  await cluster.builder.json(['commit', keyspace, '-m', 'a fourth joins']);
  await cluster.push();
  const rollout = cluster.builder.json(['rollout', keyspace]);
  await counters.goesOn(20);
  await rollout;
  await second!.kill();
  await counters.goesOn(20);
  await cluster.restart(second!);
  await second!.ready();
  await counters.goesOn(10);
  expect(await counters.verdict(), `SEED=${seed} vitest run test/e2e/counters.test.ts`).toEqual([]);
}, 120_000);
