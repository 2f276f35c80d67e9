// A ring that is balanced by bytes: the sizes come from real servers, the plan stays as reviewed
// while records are written, and the version is proved from the data that it contains.
import { connect } from '@ringwright/client/connect';
import { expect, test } from 'vitest';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';

interface Plan {
  readonly digest: string;
  readonly moved: number;
  readonly moveLowerBound: number;
  readonly swapMoves: number;
  readonly bytes: { readonly fullest: { readonly before: number; readonly after: number } };
}

async function write({ servers }: Cluster, keys: number): Promise<void> {
  const addresses = servers.map(({ address }) => address);
  await using client = await connect(addresses, { keyspace });
  for (let key = 0; key < keys; key += 1) {
    // Every fourth value is a hundred times as large.
    await client.put(`key ${key}`, 'x'.repeat(key % 4 === 0 ? 40_000 : 400));
  }
}

test('bytes are balanced, and the version proves it', { timeout: 60_000 }, async () => {
  const cluster = await clusterForTest({ servers: 4, replicas: 2 });
  const { builder } = cluster;
  const plan = () => builder.json<Plan>(['plan', keyspace]);
  await write(cluster, 40);
  const joiner = await cluster.addServer();
  await cluster.quickly(['add', keyspace, joiner.text, '1']);
  await cluster.quickly(['set', keyspace, '--balance', 'bytes', '--swap-budget', '4']);
  const { digest, moved, moveLowerBound, swapMoves, bytes } = await plan();
  expect(swapMoves).toBeGreaterThan(0);
  expect(swapMoves).toBeLessThanOrEqual(4);
  expect(moved).toBe(moveLowerBound + swapMoves);
  expect(bytes.fullest.after).toBeLessThan(bytes.fullest.before);
  expect((await builder.run(['plan', keyspace])).stdout).toMatch(
    /all moves \(with sizes of 20\d\d-/,
  );
  // The sizes change, but the plan is still the reviewed one. Shares do not explain moves that
  // balance bytes, and these are a large part of 32 slots: the change guard requires a reason.
  await write(cluster, 60);
  const reviewed = ['--plan', digest, '--override', 'even bytes'];
  await cluster.quickly(['commit', keyspace, '-m', 'even', ...reviewed]);
  const proof = await builder.json(['verify', keyspace, '--optimal']);
  expect(proof).toMatchObject({ ok: true, moves: moved, swapMoves });
  await cluster.quickly(['rollout', keyspace]);
  await cluster.quickly(['set', keyspace, '--balance', 'counts']);
  expect(await plan()).toMatchObject({ moved: 0, swapMoves: 0, bytes: null });
});
