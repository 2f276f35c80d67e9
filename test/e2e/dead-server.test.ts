// A server dies and does not come back: a single rollout completes the change without it.

import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import { killRolloutAt } from '../support/killed-rollout.ts';

interface Ended {
  readonly exit: number | null;
  readonly stderr: string;
  readonly json: { end: string; moved: number; inFlight: number; left: object[] };
}

async function rollout(cluster: Cluster, ...more: string[]): Promise<Ended> {
  const args = ['rollout', keyspace, '--json', '--stall-timeout', '3', ...more];
  const { exit, stdout, stderr } = await cluster.builder.run(args);
  return { exit, stderr, json: JSON.parse(stdout || 'null') as Ended['json'] };
}

interface Planned {
  readonly moved: number;
  readonly movesLeft: number;
}

async function planOf({ builder }: Cluster): Promise<{ document: Planned; stdout: string }> {
  const { stdout } = await builder.run(['plan', keyspace]);
  return { document: await builder.json<Planned>(['plan', keyspace]), stdout };
}

/** Returns the device ids of the head, null for a removed device. No move may be in flight. */
async function devicesOf(cluster: Cluster): Promise<(number | null)[]> {
  const { devices, moves } = await cluster.head();
  expect(moves).toEqual([]);
  return devices.map((device) => device?.id ?? null);
}

test('a rollout completes every wave without a dead server, which can then be removed', {
  timeout: 120_000,
}, async () => {
  const cluster = await clusterForTest({ servers: 4, partitions: 16 });
  const { builder } = cluster;
  for (const _ of [4, 5]) {
    await builder.json(['add', keyspace, (await cluster.addServer()).text, '3']);
  }
  await cluster.servers[1]!.kill();
  await builder.json(['set-weight', keyspace, 'd0', '0']);
  const commit = ['commit', keyspace, '-m', 'two for one', '--override', 'as planned'];
  const { moved, movesLeft } = await builder.json<{ moved: number; movesLeft: number }>(commit);
  expect(movesLeft).toBeGreaterThan(0);

  // A rollout that Ctrl-C or a closed terminal ends while it waits gives back the copy rate that it
  // had on loan.
  const rateOf = async () => (await cluster.servers[0]!.status()).copyPace.allowed;
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    const isLent = waitFor('the rate of the rollout', { ask: rateOf, until: (one) => one === 9e6 });
    const interrupt = { signal, args: ['--rate', '9MB/s'] };
    expect(await killRolloutAt(cluster, isLent, interrupt)).toBe(true);
    expect(await rateOf(), signal).toBeNull();
  }

  const without = await rollout(cluster);
  expect(without.exit).toBe(4);
  expect(without.stderr).toContain(
    `ring-builder remove ${keyspace} d1 && ring-builder commit ${keyspace} -m `,
  );

  const all = await rollout(cluster, '--skip-down');
  expect(all.json, all.stderr).toMatchObject({ moved: moved + movesLeft, inFlight: 0 });
  expect(all.json.end).toBe('drains');
  expect(all.exit).toBe(4);
  expect(all.stderr).toMatch(
    /continuing without d1 .*: 12 of 16 partitions have a slot there; without it, 0 have/,
  );

  await builder.json(['remove', keyspace, 'd1']);
  const { document, stdout: planned } = await planOf(cluster);
  const meaning = /d1 \(\S+\): \d+ of 16 partitions have .*/.exec(planned)?.[0];
  expect(planned).toContain('removed, so a rollout does not wait for an answer');
  expect(document).toMatchObject({ away: { slotsFrom: document.moved, stuck: 0 } });
  await builder.json(['commit', keyspace, '-m', 'd1 is gone']);
  const last = await rollout(cluster);
  expect(last.json, last.stderr).toMatchObject({ end: 'done', left: [], moved: document.moved });
  expect(last.stderr).toContain(`continuing without ${meaning}`);
  expect(last.exit).toBe(0);
  expect(await devicesOf(cluster)).toEqual([0, null, 2, 3, 4, 5]);
});

test('a joiner that dies in mid-move can be removed, and a dead source can be replaced', {
  timeout: 120_000,
}, async () => {
  const cluster = await clusterForTest({ servers: 4, partitions: 16 });
  const { builder } = cluster;
  const joiner = await cluster.addServer();
  await cluster.commit('add', joiner.text, '1');
  await cluster.push();
  await joiner.kill();
  const stuck = await rollout(cluster, '--skip-down');
  expect(stuck.exit).toBe(4);
  const cancel = `ring-builder moves ${keyspace} cancel d4`;
  expect(stuck.stderr).toContain(cancel);
  expect((await builder.run(['remove', keyspace, 'd4'])).stdout).toContain(cancel);
  const refused = await builder.run(['commit', keyspace, '-m', 'it is gone', '--json']);
  expect(JSON.parse(refused.stderr).hint).toContain(cancel);
  const cancelled = await builder.run(['moves', keyspace, 'cancel', 'd4']);
  expect(cancelled.stdout).toMatch(/d4 does not answer: .*; its removal is already staged\n/);
  expect(cancelled.stdout).toContain(`Next: ring-builder plan ${keyspace}\n`);
  await builder.json(['commit', keyspace, '-m', 'it is gone']);
  const removed = await rollout(cluster);
  expect(removed.exit, removed.stderr).toBe(0);
  expect(await devicesOf(cluster)).toEqual([0, 1, 2, 3, null]);

  const proposed = await cluster.commit('set-weight', 'd0', '0.2');
  expect(proposed.moves.every(({ from }) => from === 0)).toBe(true);
  await cluster.push();
  await cluster.servers[0]!.kill();
  await builder.json(['add', keyspace, (await cluster.addServer()).text, '1']);
  await cluster.commit('remove', 'd0');
  const replaced = await rollout(cluster);
  expect(replaced.exit, replaced.stderr).toBe(0);
  expect(replaced.stderr).toContain('continuing without d0');
  expect(await devicesOf(cluster)).toEqual([null, 1, 2, 3, null, 5]);
});
