// The rollout itself is killed (SIGKILL) at each of its steps, repeated, and completes.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import { killRolloutAt } from '../support/killed-rollout.ts';
import { Traffic } from '../support/traffic.ts';

/**
 * Waits until the file of a version exists, perhaps before the log names it. Polls every turn of
 * the event loop, to notice it within microseconds.
 */
async function written(cluster: Cluster, version: number): Promise<void> {
  const name = `${String(version).padStart(7, '0')}.ring`;
  const file = path.join(cluster.rings, keyspace, 'versions', name);
  const deadline = performance.now() + 10_000;
  while (!existsSync(file) && performance.now() < deadline) await setImmediate();
}

/** Waits until some server has the version. Other servers may not have it yet. */
async function reachedAServer(cluster: Cluster, version: number): Promise<void> {
  await waitFor(`version ${version} on a server`, {
    ask: async () => {
      const statuses = await Promise.all(cluster.servers.map((server) => server.status()));
      return statuses.map(({ rings }) => rings[0]?.version ?? 0);
    },
    until: (versions) => versions.some((there) => there >= version),
  });
}

/** Findings that a kill between two steps of a commit leaves and the next writer cleans up. */
const leftovers = ['FILE_STRAY', 'BUILDER_BEHIND'];

/** Returns what `verify` finds other than such leftovers. */
async function findingsOf(cluster: Cluster): Promise<string[]> {
  const { stdout } = await cluster.builder.run(['verify', keyspace, '--json']);
  const { findings } = JSON.parse(stdout) as { findings: { code: string; message: string }[] };
  const real = findings.filter(({ code }) => !leftovers.includes(code));
  return real.map(({ code, message }) => `${code}: ${message}`);
}

test('a rollout killed six times still completes when it is repeated', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 6 });
  const joiner = await cluster.addServer();
  const proposed = await cluster.commit('add', joiner.text, '1');
  expect(proposed.moves.length).toBeGreaterThan(0);
  const [initializing, final] = [proposed.version + 1, proposed.version + 2];
  const moments = [
    () => reachedAServer(cluster, proposed.version),
    () => written(cluster, initializing),
    () => cluster.committed(initializing),
    () => reachedAServer(cluster, initializing),
    () => written(cluster, final),
    () => cluster.committed(final),
  ];
  let killed = 0;
  await traffic.within('six kills of the rollout', async () => {
    for (const moment of moments) {
      if (await killRolloutAt(cluster, moment())) killed += 1;
      expect(await findingsOf(cluster)).toEqual([]);
      await traffic.goesOn(20);
    }
    const rollout = await cluster.builder.json(['rollout', keyspace]);
    expect(rollout).toMatchObject({ version: final, left: [] });
  });
  expect(killed).toBeGreaterThanOrEqual(3);
  const again = await cluster.builder.json(['rollout', keyspace]);
  expect(again).toMatchObject({ version: final, moved: 0, changed: false });
  expect(await traffic.verdict()).toEqual([]);
  expect(traffic.failures()).toEqual([]);
});
