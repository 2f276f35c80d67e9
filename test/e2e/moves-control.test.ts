// An operator controls single moves: paused across a restart, resumed, cancelled, with receipts
// that match the rings.

import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import { Traffic } from '../support/traffic.ts';

interface Listed {
  readonly version: number;
  readonly moves: readonly { partition: number; stage: string; reason: string; first: boolean }[];
}

const stagesOf = async (cluster: Cluster): Promise<string[]> => {
  const { moves } = await cluster.builder.json<Listed>(['moves', keyspace, 'list']);
  return moves.map(({ stage }) => stage);
};

test('moves can be paused, resumed and cancelled one by one, under load', {
  timeout: 180_000,
}, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 6 });
  await traffic.goesOn();
  const { builder } = cluster;
  const joiner = await cluster.addServer();
  const ring = await cluster.commit('add', joiner.text, '1');
  await cluster.push();
  const count = ring.moves.length;
  expect(count).toBe(12);
  const partitions = ring.moves.map(({ partition }) => partition);
  const [first = -1, second = -1] = partitions;

  const paused = await builder.run(['moves', keyspace, 'pause', 'all']);
  expect(paused.stdout).toContain(`pause: ${count} of ${count} moves`);
  expect(paused.stdout).toContain('start over after a resume');
  const status = await builder.run(['status', keyspace]);
  expect(status.stdout).toContain(`moves now: ${count} paused\n`);
  expect(status.stdout).toMatch(/^Next: .* moves \S+ resume all/m);
  const put = await builder.json(['moves', keyspace, 'prioritise', String(second)]);
  expect(put).toMatchObject({ known: 1, changed: true });
  await joiner.kill();
  await cluster.restart(joiner);
  expect(await stagesOf(cluster)).toEqual(Array(count).fill('paused'));

  // A rate that an operator set is shown, and a rollout with its own rate restores it afterwards.
  const rates = async (): Promise<unknown[]> => {
    const all = await Promise.all(cluster.servers.map((server) => server.status()));
    return all.map(({ copyPace }) => copyPace.allowed);
  };
  await builder.json(['moves', keyspace, 'rate', '5MB/s']);
  expect(await rates()).toEqual(Array(4).fill(5_000_000));
  const listed = await builder.run(['moves', keyspace, 'list']);
  expect(listed.stdout).toContain(
    'when resumed, copies are limited to 5.00 MB/s on 4 of 4 servers',
  );
  expect(listed.stdout).toMatch(/^Next: .* moves \S+ resume all/m);
  const [told, asked] = await Promise.all(
    ['list', 'rate'].map((action) => builder.json(['moves', keyspace, action])),
  );
  expect(told?.['rates']).toEqual(asked?.['rates']);
  expect((await builder.run(['servers', keyspace])).stdout).toContain('5.00 MB/s');
  const stopped = await builder.run(['rollout', keyspace, '--json', '--rate', '9MB/s']);
  expect(await rates()).toEqual(Array(4).fill(5_000_000));
  expect(stopped.exit, stopped.stderr).toBe(6);
  expect(JSON.parse(stopped.stdout)).toMatchObject({ end: 'paused', paused: count, moved: 0 });

  await builder.json(['moves', keyspace, 'resume', String(first)]);
  await waitFor('the first to be copied', {
    ask: () => stagesOf(cluster),
    until: (stages) => stages.includes('available'),
  });
  const again = await builder.json(['moves', keyspace, 'pause', 'all']);
  expect(again).toMatchObject({ known: count - 1, available: 1 });
  const one = await builder.run(['rollout', keyspace, '--json']);
  expect(one.stderr).toContain('copies are limited to 5.00 MB/s on 4 of 4 servers');
  await builder.json(['moves', keyspace, 'rate', 'none']);
  expect(await rates()).toEqual(Array(4).fill(null));
  expect(one.exit, one.stderr).toBe(6);
  expect(JSON.parse(one.stdout)).toMatchObject({ moved: 1, receipts: 1, paused: count - 1 });

  const { entries } = await builder.json<{ entries: { kind: string; message: string }[] }>([
    ...['log', keyspace],
  ]);
  const noted = entries.filter(({ kind }) => kind === 'moves').map(({ message }) => message);
  expect(noted.reverse()).toEqual([
    `pause: ${count} moves`,
    'prioritise: 1 move',
    'rate: 5MB/s',
    'resume: 1 move',
    `pause: ${count - 1} moves`,
    'rate: none',
  ]);

  const gone = await builder.json(['moves', keyspace, 'cancel', String(second)]);
  expect(gone).toMatchObject({ cancelled: 1, partitions: [second], changed: true });
  const wrong = await builder.run(['moves', keyspace, 'retry', String(second)]);
  expect(wrong.exit).toBe(3);

  await builder.json(['moves', keyspace, 'resume', 'all']);
  const rest = await builder.json(['rollout', keyspace]);
  expect(rest).toMatchObject({ moved: count - 2, end: 'done', inFlight: 0 });
  const head = await cluster.head();
  expect(head.table.map((row) => row[second])).toEqual(ring.table.map((row) => row[second]));
  expect(head.table.map((row) => row[first])).toContain(ring.moves[0]?.to);

  await traffic.goesOn();
  expect(await traffic.verdict()).toEqual([]);
  const { receipts } = await builder.json<{ receipts: object }>(['verify', keyspace]);
  expect(receipts).toMatchObject({ moves: count - 1, receipts: count - 1, forced: 0, absent: 0 });
});
