// The operator's view of files: reconcile compares the ring with the disks, held drops proceed
// after a confirmation, and a dropped file is restored by name and dropped again.

import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';

interface Reconciled {
  readonly counts: readonly { kind: string; count: number }[];
  readonly away: readonly { address: string }[];
  readonly slots: number;
  readonly complete: number;
}

test('mistaken drops are held, shown, confirmed, listed and restored', {
  timeout: 180_000,
}, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 64 });
  const { builder } = cluster;
  const reconcile = async (): Promise<{ exit: number | null; found: Reconciled }> => {
    const { exit, stdout } = await builder.run(['reconcile', keyspace, '--json']);
    return { exit, found: JSON.parse(stdout) };
  };
  expect(await reconcile()).toMatchObject({ exit: 0, found: { slots: 192, complete: 192 } });
  const { port } = cluster.servers[0]!.place;
  const put = (each: number) =>
    ({ method: 'PUT', path: `/v1/${keyspace}/${each}`, body: 'x' }) as const;
  await Promise.all(Array.from({ length: 300 }, (_, each) => askServer(port, put(each))));

  const joiner = await cluster.addServer();
  await builder.json(['add', keyspace, joiner.text, '1']);
  const insisting = ['--direct', '--yes', '--override', 'nobody asked'];
  await builder.json(['commit', keyspace, '-m', 'a mistake', ...insisting]);
  await cluster.push();
  const held = await waitFor('the joiner to refill and the others to hold their drops', {
    ask: async () => (await reconcile()).found,
    until: ({ counts }) =>
      counts.length === 1 && counts[0]?.kind === 'duplicated' && counts[0].count === 48,
  });
  expect(held).toMatchObject({ slots: 192, complete: 192 });

  const asked = await builder.run(['trash', 'confirm', keyspace, '--json']);
  expect(asked.exit).toBe(5);
  expect(JSON.parse(asked.stderr)).toMatchObject({ code: 'CONFIRMATION_NEEDED' });
  const gone = await builder.json(['rollout', keyspace, '--confirm-drops']);
  expect(gone).toMatchObject({ end: 'done', left: [] });
  expect(await reconcile()).toMatchObject({ exit: 0 });

  const list = () =>
    builder.json<{ count: number; items: { name: string }[] }>(['trash', 'list', keyspace]);
  const listed = await list();
  // Most partitions have a record; an empty partition leaves nothing in the trash.
  expect(listed.count).toBeGreaterThan(24);
  expect(listed.count).toBeLessThanOrEqual(48);
  const name = listed.items[0]?.name ?? '';
  const { restored } = await builder.json<{ restored: object[] }>([
    ...['trash', 'restore', keyspace, name],
  ]);
  expect(restored).toMatchObject([{ name, duty: 'UNLOAD' }]);
  const again = await builder.run(['trash', 'restore', keyspace, name, '--json']);
  expect(JSON.parse(again.stderr)).toMatchObject({ code: 'TRASH_UNKNOWN' });
  await waitFor('it to give what it has, and to be dropped again', {
    ask: list,
    until: ({ count, items }) =>
      count === listed.count && items.every((item) => item.name !== name),
  });

  await joiner.kill();
  const { exit, found } = await reconcile();
  expect(exit === 4 || exit === 1, 'a device does not answer').toBe(true);
  expect(found.away).toMatchObject([{ address: joiner.address }]);
  expect([found.slots, found.complete], 'also its own slots').toEqual([192, 144]);
  await cluster.restart(joiner);
});
