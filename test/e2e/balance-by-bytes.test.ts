// A ring that is balanced by bytes: sizes from real servers, a plan that stays what was reviewed
// while records are written, and versions that are proved from what they carry.
import { connect } from '@ringwright/client/connect';
import { expect, test } from 'vitest';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';

interface Plan {
  readonly digest: string;
  readonly moved: number;
  readonly movesLeft: number;
  readonly moveLowerBound: number;
  readonly swapMoves: number;
  readonly bytes: { readonly fullest: { readonly before: number; readonly after: number } };
}

async function write({ servers }: Cluster, keys: number): Promise<void> {
  const addresses = servers.map(({ address }) => address);
  await using client = await connect(addresses, { keyspace });
  for (let key = 0; key < keys; key += 1) {
    // Each fourth key is a hundred times as large.
    await client.put(`key ${key}`, 'x'.repeat(key % 4 === 0 ? 40_000 : 400));
  }
}

/** Commits the plan as reviewed, carries it out, and proves it. */
async function carriedOut(cluster: Cluster, { digest }: Plan, ...more: string[]): Promise<unknown> {
  const { builder } = cluster;
  await cluster.quickly(['commit', keyspace, '-m', 'even', '--plan', digest, ...more]);
  await cluster.quickly(['rollout', keyspace]);
  return builder.json(['verify', keyspace, '--optimal']);
}

test('bytes are evened out, and each version proves it', { timeout: 60_000 }, async () => {
  const cluster = await clusterForTest({ servers: 4, replicas: 2 });
  const { builder } = cluster;
  const plan = () => builder.json<Plan>(['plan', keyspace]);
  await write(cluster, 40);
  const joiner = await cluster.addServer();
  await cluster.quickly(['add', keyspace, joiner.text, '1']);
  await cluster.quickly(['set', keyspace, '--balance', 'bytes']);
  const joins = await plan();
  expect(joins).toMatchObject({ moved: joins.moveLowerBound, movesLeft: 0, swapMoves: 0 });
  expect((await builder.run(['plan', keyspace])).stdout).toMatch(
    /after all moves \(by sizes of 20\d\d-/,
  );
  await write(cluster, 60);
  expect(await carriedOut(cluster, joins)).toMatchObject({ ok: true, swapMoves: 0 });

  await cluster.quickly(['set', keyspace, '--balance', 'bytes', '--swap-budget', '4']);
  const swaps = await plan();
  const { before, after } = swaps.bytes.fullest;
  expect(swaps.swapMoves).toBeGreaterThan(0);
  expect(swaps.swapMoves).toBeLessThanOrEqual(4);
  expect(swaps).toMatchObject({ moveLowerBound: 0, moved: swaps.swapMoves });
  expect(after).toBeLessThan(before);
  // No share explains these moves, and of 32 slots they are many: the guard wants a reason.
  const proof = await carriedOut(cluster, swaps, '--override', 'even bytes');
  expect(proof).toMatchObject({ ok: true, moves: swaps.moved, swapMoves: swaps.moved });

  await cluster.quickly(['set', keyspace, '--balance', 'counts']);
  expect(await plan()).toMatchObject({ moved: 0, swapMoves: 0, bytes: null });
});
