// Tests the command replace: one device, a whole server, and refusals that stage nothing.
import { expect, test } from 'vitest';
import {
  type RingBuilderHere,
  ringBuilderHere,
} from '../../../../test/support/ring-builder-here.ts';

interface Table {
  readonly devices: readonly ({ readonly ip: string; readonly port: number } | null)[];
  readonly table: readonly (readonly number[])[];
}

/**
 * Creates a ring of three servers with two devices each, on separate ports. No server has it:
 * commits change the table.
 */
async function threeServers(): Promise<RingBuilderHere> {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 32 --partitioner murmur3-mod --replicas 2');
  const pairs = [1, 2, 3].flatMap((zone) =>
    [1, 2].flatMap((disk) => [`r1z${zone}-10.0.0.${zone}:620${disk}/sd${disk}`, `${disk}`]),
  );
  await tool.json(['add', 'cities', ...pairs]);
  await tool.json(['commit', 'cities', '-m', 'three servers']);
  return tool;
}

test('the replacement of a whole server changes only device ids in the table', async () => {
  const tool = await threeServers();
  const before = await tool.json<Table>('table cities');
  expect(await tool.text('replace cities @10.0.0.2 10.0.0.9')).toContain(
    'add d6 r1z2-10.0.0.9:6201/sd1 weight 1 in place of d2 ',
  );
  await tool.json(['commit', 'cities', '-m', 'a new machine']);
  const after = await tool.json<Table>('table cities');
  const named = (id: number): number => [2, 3].indexOf(id) + 6;
  expect(after.table).toEqual(
    before.table.map((row) => row.map((id) => (id === 2 || id === 3 ? named(id) : id))),
  );
  expect(after.devices.slice(2, 4)).toEqual([null, null]);
  expect(after.devices[7]).toMatchObject({ ip: '10.0.0.9', port: 6202 });
  expect(await tool.json('verify cities')).toMatchObject({ findings: [] });
});

test('if earlier changes are unstaged, the new device gets the first free id', async () => {
  const tool = await threeServers();
  await tool.json('add cities r1z1-10.0.0.1:6209/new 1');
  await tool.json('replace cities d0 /sd9');
  await tool.json('unstage cities 1');
  const { staged } = await tool.json<{ staged: unknown[] }>('status cities');
  const device = { id: 6, ip: '10.0.0.1', port: 6201, device: 'sd9', zone: 1 };
  expect(staged).toMatchObject([{ changes: [{ kind: 'add', device, replaces: 0 }] }]);
});

test('in a ring of tokens the new device takes the place of the old one', async () => {
  const tool = await ringBuilderHere();
  await tool.json(
    'create cities --partitioner hash-intervals --placement tokens --partitions 4 --replicas 2',
  );
  await tool.json(['add', 'cities', 'r1z1-10.0.0.1:6200/a', '1', '--tokens', '.25,.75']);
  await tool.json(['add', 'cities', 'r1z1-10.0.0.2:6200/a', '1', '--tokens', '.5']);
  await tool.json(['add', 'cities', 'r1z1-10.0.0.3:6200/a', '1', '--tokens', '0']);
  await tool.json(['commit', 'cities', '-m', 'three']);
  const before = await tool.json<Table>('table cities');
  await tool.json('replace cities d0 r2z7-10.0.0.9');
  await tool.json(['commit', 'cities', '-m', 'another in its place']);
  const { table } = await tool.json<Table>('table cities');
  expect(table).toEqual(before.table.map((row) => row.map((id) => (id === 0 ? 3 : id))));
});

test.each([
  ['d0 d9:x/y', 2, 'DEVICE_INVALID'],
  ['d0 /', 2, 'DEVICE_INVALID'],
  ['d0 10.0.0.256', 2, 'DEVICE_INVALID'],
  ['d0 10.0.0.1', 2, 'DEVICE_DUPLICATE'],
  ['d7 10.0.0.9', 2, 'DEVICE_UNKNOWN'],
  ['@10.0.0.1 10.0.0.9:6200', 2, 'USAGE'],
  ['@10.0.0.1 10.0.0.9/sdc', 2, 'USAGE'],
  ['all 10.0.0.9', 2, 'USAGE'],
])('replace cities %s is refused, and nothing is staged', async (words, exit, code) => {
  const tool = await threeServers();
  expect(await tool.refusal(`replace cities ${words}`)).toMatchObject({ exit, code });
  expect(await tool.json('status cities')).toMatchObject({ staged: [] });
});
