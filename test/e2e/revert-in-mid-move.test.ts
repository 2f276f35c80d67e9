// A revert in mid-move copies nothing wherever the old file still exists: the old holders take only
// the records that they missed, even if they have restarted meanwhile.

import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';

const keys = Array.from({ length: 200 }, (_, index) => `kept/${index}`);

/** Number of keys written again while the data is elsewhere: about one per partition. */
const CHANGED = 8;

async function write(cluster: Cluster, text: string, count: number): Promise<void> {
  for (const [index, key] of keys.slice(0, count).entries()) {
    const ports = cluster.ports();
    const path = `/v1/${keyspace}/${key}`;
    const body = `${text} ${index} `.repeat(50);
    const { status } = await askServer(ports[index % ports.length]!, { method: 'PUT', path, body });
    expect(status).toBe(204);
  }
}

test('a revert copies no file that still exists', { timeout: 180_000 }, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const { builder } = cluster;
  await write(cluster, 'first', keys.length);
  const before = await cluster.head();
  const joiner = await cluster.addServer();
  const proposed = await cluster.commit('add', joiner.text, '1');
  await cluster.push();

  // A holder that is down keeps the others from dropping anything, but gives away no partition.
  const away = cluster.serverOf(proposed, 1);
  const fromAway = proposed.moves.filter(({ from }) => from === 1);
  const cancelled = fromAway.map(({ partition }) => String(partition));
  await builder.json(['moves', keyspace, 'cancel', ...cancelled]);
  await cluster.push();
  await away.kill();
  const args = ['rollout', keyspace, '--json', '--skip-down', '--stall-timeout', '2'];
  const out = await builder.run(args);
  expect(out.exit, out.stderr).toBe(4);
  const moved = proposed.moves.length - fromAway.length;
  expect(JSON.parse(out.stdout)).toMatchObject({ moved, verified: moved, end: 'drains' });
  await write(cluster, 'second', CHANGED);

  const reverted = await builder.json<{ version: number }>([
    ...['revert', keyspace, String(before.version), '-m', 'sd4 is too slow'],
    ...['--override', 'nothing is copied'],
  ]);
  // The old holders are killed and restarted while they hand over their files.
  for (const id of [0, 2]) {
    const holder = cluster.serverOf(proposed, id);
    await holder.kill();
    await cluster.restart(holder);
  }
  const home = await builder.run(args);
  expect(JSON.parse(home.stdout), home.stderr).toMatchObject({
    ...{ moved, verified: 0, copied: { bytes: 0 }, version: reverted.version + 2 },
  });
  expect((await cluster.head()).table).toEqual(before.table);

  await cluster.restart(away);
  expect(await builder.json(['rollout', keyspace])).toMatchObject({ end: 'done', left: [] });
  const read = (key: string) =>
    askServer(cluster.ports()[0]!, { path: `/v1/${keyspace}/${key}?consistency=all` });
  // A server that was down for long is retried only every few seconds.
  await waitFor('all to answer', {
    ask: async () => (await read(keys[0]!)).status,
    until: (status) => status === 200,
  });
  for (const [index, key] of keys.entries()) {
    const { bytes } = await read(key);
    expect(bytes.toString()).toBe(`${index < CHANGED ? 'second' : 'first'} ${index} `.repeat(50));
  }
});
