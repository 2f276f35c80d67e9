// A beacon expires in the middle of a ring change: copies continue, nothing is dropped, and a fresh
// beacon lets the same rollout complete.
import fs from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { signingFolder } from '../support/signing-folder.ts';

/** About twenty processes start one after another, on a machine that may be busy. */
const limit = { timeout: 180_000 };

test('nothing is dropped while the beacon is expired', limit, async () => {
  const { folder, keys, root } = await signingFolder();
  const away = path.join(folder, 'away');
  const extra = (): string[] => ['--trust', root];
  const cluster = await clusterForTest({ servers: 3, partitions: 16, folder, extra });
  const { builder } = cluster;

  // The last beacon before the beacon key is moved away. It expires within a tenth of a second.
  await builder.json(`beacon ${keyspace} --minutes 0.001`);
  const beaconKeys = (await fs.readdir(keys)).filter((name) => name.startsWith('ada-beacon'));
  await fs.mkdir(away);
  const move = async (from: string, to: string): Promise<void> => {
    for (const name of beaconKeys) await fs.rename(path.join(from, name), path.join(to, name));
  };
  await move(keys, away);

  const joiner = await cluster.addServer();
  await cluster.commit('add', joiner.text, '1');
  const rollout = builder.run(`rollout ${keyspace}`);
  const leaving = cluster.servers.slice(0, 3);
  const reasons = async (): Promise<string[]> => {
    const statuses = await Promise.all(leaving.map((server) => server.status()));
    return statuses.flatMap(({ rings }) => rings[0]?.draining.map(({ reason }) => reason) ?? []);
  };
  await waitFor('drops to be stopped', {
    ask: reasons,
    until: (all) => all.length > 0 && all.every((reason) => reason.includes('the beacon')),
  });
  expect((await builder.run(`servers ${keyspace}`)).stdout).toContain('its beacon has expired');
  expect((await joiner.status()).rings[0]?.serving, 'copying went on').toBeGreaterThan(0);

  await move(away, keys);
  await builder.json(`beacon ${keyspace}`);
  expect((await rollout).exit).toBe(0);
  expect(await reasons()).toEqual([]);
});
