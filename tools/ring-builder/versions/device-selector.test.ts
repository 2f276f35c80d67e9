// Compares selectors with plain predicates on each device, and tests commands that take selectors.
import type { BuilderDevice } from '@ringwright/builder/state/builder-state';
import { expect, test } from 'vitest';
import { type RingBuilderHere, ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { selectorOf } from './device-selector.ts';

const devices: BuilderDevice[] = Array.from({ length: 12 }, (_, id) => ({
  id,
  region: 1 + (id % 2),
  zone: 1 + (id % 3),
  ip: id === 11 ? 'fd00::3' : `10.0.0.${id % 4}`,
  port: 6200 + (id % 2),
  device: id % 5 === 0 ? 'sda' : `sd${id}`,
  weight: id * 10,
  meta: id % 4 === 0 ? 'rack7,left' : '',
  state: id === 9 ? 'removed' : 'active',
  ...(id === 8 && { hold: 'maintenance' as const }),
}));

test.each<[string, (device: BuilderDevice) => boolean]>([
  ['all', () => true],
  ['r1', ({ region }) => region === 1],
  ['z3', ({ zone }) => zone === 3],
  ['r2z1', ({ region, zone }) => region === 2 && zone === 1],
  ['d7', ({ id }) => id === 7],
  ['@10.0.0.1', ({ ip }) => ip === '10.0.0.1'],
  ['@10.0.0.1:6201', ({ ip, port }) => ip === '10.0.0.1' && port === 6201],
  ['@FD00::3', ({ ip }) => ip === 'fd00::3'],
  ['@[fd00::3]:6201', ({ ip }) => ip === 'fd00::3'],
  [':6200', ({ port }) => port === 6200],
  ['/sda', ({ device }) => device === 'sda'],
  ['name=sda', ({ device }) => device === 'sda'],
  ['meta=rack7', ({ meta }) => meta.includes('rack7')],
  ['r1,meta=rack7,left', ({ region, meta }) => region === 1 && meta.includes('rack7,left')],
  ['weight<30', ({ weight }) => weight < 30],
  ['weight<=30', ({ weight }) => weight <= 30],
  ['weight>30,z1', ({ weight, zone }) => weight > 30 && zone === 1],
  ['weight>=30', ({ weight }) => weight >= 30],
  ['weight=30', ({ weight }) => weight === 30],
  ['weight!=30', ({ weight }) => weight !== 30],
  ['port!=6200', ({ port }) => port !== 6200],
  ['state=removed', ({ state }) => state === 'removed'],
  ['hold!=none', ({ hold }) => hold !== undefined],
  ['@10.0.0.2,/sda', ({ ip, device }) => ip === '10.0.0.2' && device === 'sda'],
])('%s selects the devices of its predicate', (word, wanted) => {
  const selects = selectorOf(word);
  expect(selects).not.toBeNull();
  expect(devices.filter((device) => selects?.(device))).toEqual(devices.filter(wanted));
});

test('a device name is not a selector, and a malformed selector is refused', () => {
  for (const word of ['sda', '10.0.0.1', '10.0.0.1:6200/sda', 'a=b', '', 'r1z2x']) {
    expect(selectorOf(word), word).toBeNull();
  }
  for (const word of ['weight<x', 'weight<', 'r1,sda', 'name<sda', 'zone=,r1', 'r1,,z2']) {
    expect(() => selectorOf(word), word).toThrow('is not a term of a selector');
  }
});

async function fourDevices(): Promise<RingBuilderHere> {
  const tool = await ringBuilderHere();
  await tool.json('create kv --partitions 8 --replicas 2');
  await tool.json([
    ...['add', 'kv', 'r1z1-10.0.0.1:6200/sda', '1', 'r1z1-10.0.0.1:6200/sdb', '1'],
    ...['r1z2-10.0.0.2:6200/sda', '1', 'r1z2-10.0.0.2:6200/sdb', '2'],
  ]);
  await tool.json('commit kv -m first');
  return tool;
}

async function staged(tool: RingBuilderHere, command: string): Promise<unknown[]> {
  const { staged: changes } = await tool.json<{ staged: { id: number }[] }>(command);
  await tool.json('unstage kv');
  return changes.map(({ id }) => id);
}

test('commands that take devices accept selectors', async () => {
  const tool = await fourDevices();
  expect(await staged(tool, 'set-weight kv @10.0.0.1 5 name=sdb,z2 7')).toEqual([0, 1, 3]);
  expect(await staged(tool, 'remove kv weight>1')).toEqual([3]);
  expect(await staged(tool, 'maintenance kv z1 d3')).toEqual([0, 1, 3]);
  expect(await staged(tool, 'ramp kv r1z2 9')).toEqual([2, 3]);
  expect(await staged(tool, 'set-device kv @10.0.0.2 --zone 4')).toEqual([2, 3]);
  const { staged: pins } = await tool.json<{ staged: object[] }>('pin kv 1 --on name=sda --off d1');
  expect(pins).toEqual([{ kind: 'pin', pin: { partition: 1, on: [0, 2], off: [1] } }]);
  await tool.json('unstage kv');
  expect(await tool.json('drill kv device @10.0.0.1')).toMatchObject({ gone: [0, 1] });
});

test('a bare name of several devices is refused with the selector of all of them', async () => {
  const tool = await fourDevices();
  await expect(tool.answer('remove kv sda')).rejects.toMatchObject({
    code: 'DEVICE_UNKNOWN',
    hint: expect.stringContaining('name=sda'),
  });
  await expect(tool.answer('remove kv z9')).rejects.toMatchObject({ code: 'DEVICE_UNKNOWN' });
});

test('search and list-parts accept selectors', async () => {
  const tool = await fourDevices();
  const { devices: found } = await tool.json<{ devices: { id: number; slots: number }[] }>(
    'search kv sda weight>1',
  );
  expect(found.map(({ id }) => id)).toEqual([0, 2, 3]);
  expect((await tool.answer('search kv z9')).exit).toBe(1);
  expect(await tool.text('search kv weight>1')).toMatch(/^Next: .* list-parts kv 'weight>1'$/m);
  const { table } = await tool.json<{ table: number[][] }>('table kv');
  const { partitions } = await tool.json<{ partitions: { partition: number; slots: object[] }[] }>(
    'list-parts kv z1',
  );
  const wanted = Array.from({ length: 8 }, (_, partition) => ({
    partition,
    slots: table.flatMap((row, replica) => {
      const device = row[partition] ?? -1;
      return device < 2 ? [{ replica, device }] : [];
    }),
  }));
  expect(partitions).toEqual(wanted.filter(({ slots }) => slots.length > 0));
  expect(await tool.text('list-parts kv d0')).toContain('# ');
});
