// A rollout that waits: for its permitted hours, for a command that holds the lock, and longer than
// the lifetime of a beacon.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { expect, test } from 'vitest';
import type { Context } from '../../tools/ring-builder/cli/command.ts';
import { watchMoves } from '../../tools/ring-builder/moves/watch-moves.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { ringBuilderHere } from '../support/ring-builder-here.ts';
import { passphrase, signingFolder } from '../support/signing-folder.ts';

const limit = { timeout: 180_000 };

/** Records what a rollout in this process reports and what its board shows. */
function listener() {
  const told: string[] = [];
  const world: Pick<Context, 'tell' | 'show' | 'nowMs'> = {
    nowMs: Date.now,
    tell: (line) => void told.push(line),
    show: ({ inLine }) => void (told.at(-1) !== inLine() && told.push(inLine())),
  };
  const hears = (what: string) =>
    waitFor(what, {
      ask: async () => told.some((line) => line.includes(what)),
      until: (is) => is,
    });
  return { world, hears };
}

test('outside its hours a rollout waits, and then continues by itself', limit, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  const joiner = await cluster.addServer();
  const { version } = await cluster.commit('add', joiner.text, '1');
  let hour = 12;
  const { world, hears } = listener();
  const here = await ringBuilderHere({ ...world, rings: cluster.rings, localHour: () => hour });
  const rollout = here.json(`rollout ${keyspace} --max-moves 3 --window 22-6`);
  await hears('waiting for 22-6');
  expect((await cluster.head()).version).toBe(version);
  hour = 23;
  await cluster.committed(version + 2);
  hour = 7;
  expect((await cluster.head()).moves.length).toBeGreaterThan(0);
  hour = 22;
  expect(await rollout).toMatchObject({ end: 'done', left: [], inFlight: 0 });
});

test(
  'outside its hours a rollout finishes the moves in flight, and begins no others',
  limit,
  async () => {
    const cluster = await clusterForTest({ servers: 3, partitions: 16 });
    const joiner = await cluster.addServer();
    const { version } = await cluster.commit('add', joiner.text, '1');
    // Three moves copy; the others would have room beside them.
    await cluster.builder.json(`rollout ${keyspace} --max-moves 3 --step`);
    const { moves } = await cluster.head();
    let hour = 12;
    const { world, hears } = listener();
    const here = await ringBuilderHere({ ...world, rings: cluster.rings, localHour: () => hour });
    const rollout = here.json(`rollout ${keyspace} --window 22-6`);
    await hears('waiting for 22-6');
    const daytime = await cluster.head();
    expect(daytime.version).toBe(version + 2);
    expect(daytime.moves).toHaveLength(moves.length - 3);
    expect(daytime.moves.every(({ state }) => state === 'PROPOSED')).toBe(true);
    hour = 22;
    expect(await rollout).toMatchObject({ end: 'done', left: [], inFlight: 0 });
  },
);

test('a rollout waits for a held lock, and names its holder at the timeout', limit, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 4 });
  const joiner = await cluster.addServer();
  await cluster.commit('add', joiner.text, '1');
  const claim = path.join(cluster.rings, keyspace, `.lock-${os.hostname()}-1-1`);
  const owner = { pid: process.pid, host: os.hostname(), user: 'bob', time: '2026-11-21' };
  await fs.writeFile(claim, JSON.stringify(owner));
  const refused = await cluster.builder.run(['rollout', keyspace, '--stall-timeout', '2']);
  expect(refused.exit).toBe(3);
  expect(refused.stderr).toContain('is being changed by bob');

  const { world, hears } = listener();
  const here = await ringBuilderHere({ ...world, rings: cluster.rings });
  const rollout = here.json(`rollout ${keyspace}`);
  await hears('is being changed by bob');
  await fs.rm(claim);
  expect(await rollout).toMatchObject({ end: 'done', left: [] });
});

test('a rollout renews the beacon while it works', limit, async () => {
  const { folder, keys: keyFolder, root } = await signingFolder();
  const extra = (): string[] => ['--trust', root];
  const cluster = await clusterForTest({ servers: 3, partitions: 4, folder, extra });
  const { rings } = cluster;
  const keys = { folder: keyFolder, name: null, passphrase: () => Promise.resolve(passphrase) };
  let agoMs = 240_000;
  const nowMs = (): number => Date.now() - agoMs;
  // Only what the watch of moves needs of a context.
  const context = { ...listener().world, rings, keys, nowMs } as unknown as Context;
  const watch = watchMoves(context, () => 0);
  agoMs = 0;
  const [first] = cluster.servers;
  const minutesLeft = async () =>
    ((await first!.status()).rings[0]?.freshness.leftMs ?? 0) / 60_000;
  const head = await readVersion(rings, keyspace, 'head');
  for (const [moment, isRenewed] of [
    ['four minutes after the push', true],
    ['a moment later', false],
  ] as const) {
    await cluster.builder.json(`beacon ${keyspace} --minutes 5`);
    await watch.look(head, moment);
    expect((await minutesLeft()) > 5, moment).toBe(isRenewed);
  }
});
