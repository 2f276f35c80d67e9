// A composite ring on real servers: a component changes, and the composite ring follows it by
// moves.
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest } from '../support/cluster.ts';

interface Table {
  readonly devices: readonly ({ readonly device: string } | null)[];
  readonly table: readonly (readonly number[])[];
  readonly moves: readonly unknown[];
}

test('a ring that is composed again moves its slots and keeps its records', async () => {
  const cluster = await clusterForTest({ servers: 3, replicas: 1, partitions: 4 });
  const { builder, servers } = cluster;
  const [first, second, third] = servers.map(({ text }) => text);
  const part = async (name: string, device = ''): Promise<void> => {
    await builder.json(`create ${name} --partitions 8 --replicas 1`);
    await builder.json(`add ${name} ${device} 1`);
    await builder.json(`commit ${name} -m first`);
  };
  const rows = async (name: string): Promise<(string | undefined)[][]> => {
    const { table, devices } = await builder.json<Table>(`table ${name}`);
    return table.map((row) => row.map((id) => devices[id]?.device));
  };
  const [port = 0] = cluster.ports();
  const keys = Array.from({ length: 40 }, (_, at) => `/v1/photos/k${at}?consistency=all`);
  const areThere = async (): Promise<void> => {
    for (const path of keys) {
      const { bytes } = await askServer(port, { method: 'GET', path });
      expect(bytes.toString()).toBe(path);
    }
  };
  await part('east', first);
  await part('west', second);
  await builder.json('compose photos east west');
  await builder.json('push photos');
  for (const path of keys) {
    expect(await askServer(port, { method: 'PUT', path, body: path })).toMatchObject({
      status: 204,
    });
  }
  await builder.json(`add east ${third} 1`);
  await builder.json('commit east -m wider');
  expect(await builder.json('compose photos east west')).toMatchObject({ version: 2, moved: 4 });
  expect(await rows('photos')).toEqual([Array(8).fill('sd1'), Array(8).fill('sd2')]);
  expect((await builder.run('compose photos east west --json')).stderr).toContain(
    'MOVES_IN_FLIGHT',
  );
  await builder.json('rollout photos');
  expect(await rows('photos')).toEqual([...(await rows('east')), ...(await rows('west'))]);
  expect(await builder.json('compose photos east west')).toMatchObject({ changed: false });
  await areThere();

  // A compose carries out splits first and alone. The next compose moves the other slots.
  for (const name of ['east', 'west']) {
    await builder.json(`set ${name} --partition-power 4`);
    await builder.json(`commit ${name} -m split`);
  }
  await builder.json('set-weight east d0 3');
  await builder.json('commit east -m less');
  const split = await builder.json<{ slotsLater: number }>('compose photos east west');
  expect(split.slotsLater).toBeGreaterThan(0);
  await builder.json('rollout photos');
  expect(await builder.json('status photos')).toMatchObject({
    next: expect.stringContaining('compose photos east west'),
  });
  expect(await builder.json('compose photos east west')).toMatchObject({
    moved: split.slotsLater,
  });
  await builder.json('rollout photos');
  expect(await rows('photos')).toEqual([...(await rows('east')), ...(await rows('west'))]);
  await areThere();
});
