// Tests commands on rings of intervals: create, table, lookup, export, import and restore, and what
// is refused before anything is written.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomEnds } from '@ringwright/ring/partitioner/hash-ends';
import { expect, test } from 'vitest';
import {
  type RingBuilderHere,
  ringBuilderHere,
} from '../../../../test/support/ring-builder-here.ts';

async function committed(create: string): Promise<RingBuilderHere> {
  const tool = await ringBuilderHere();
  await tool.json(`create kv --replicas 2 ${create}`);
  const nodes = [1, 2, 3].flatMap((zone) => [`r1z${zone}-10.0.0.${zone}:6200/sda`, '1']);
  await tool.json(['add', 'kv', ...nodes]);
  await tool.json('commit kv -m first');
  return tool;
}

test('a new ring of ranges has one interval, from the first key to the last', async () => {
  const tool = await committed('--partitioner ranges');
  expect(await tool.json('table kv')).toMatchObject({
    partitions: 1,
    intervals: [{ id: 0, start: null, end: null }],
  });
  expect(await tool.text('lookup kv anything')).toContain('partition 0 […, …)');
});

test('boundaries are listed in order, as text or in base64', async () => {
  const tool = await committed('--partitioner ranges --boundaries g,m%C3%BC%2C,%FF');
  const { intervals } = await tool.json<{ intervals: object[] }>('table kv');
  expect(intervals).toEqual([
    { id: 0, start: null, end: 'g' },
    { id: 1, start: 'g', end: 'mü,' },
    { id: 2, start: 'mü,', end64: '/w==' },
    { id: 3, start64: '/w==', end: null },
  ]);
  const { keys } = await tool.json<{ keys: { partition: number }[] }>([
    ...['lookup', 'kv', 'a', 'g', 'fzzz', 'mü', 'mü,', 'z', '--at', '1'],
  ]);
  expect(keys.map(({ partition }) => partition)).toEqual([0, 1, 0, 1, 2, 2]);
  expect(await tool.text('table kv')).toMatch(/^1 \d \d \[g, m%C3%BC%2C\)$/m);
  expect(await tool.text('why kv g --as-key')).toContain('partition 1 [g, m%C3%BC%2C) of key g');
});

test('hash intervals are equal by default and random with --tokens random', async () => {
  const equal = await committed('--partitioner hash-intervals --partitions 4 --hash jenkins');
  const quarters = [3, 0, 1, 2].map((start) => start * 2 ** 30);
  expect(await equal.json('table kv')).toMatchObject({
    intervals: quarters.map((start, id) => ({ id, start, end: id * 2 ** 30 })),
  });
  const drawn = await committed(
    '--partitioner hash-intervals --partitions 5 --tokens random:7 --hash-key {tag}',
  );
  const { intervals } = await drawn.json<{ intervals: { end: number }[] }>('table kv');
  expect(intervals.map(({ end }) => end)).toEqual(randomEnds(5, 7));
  const { keys } = await drawn.json<{ keys: { partition: number }[] }>(
    'lookup kv {acme}/1 x{acme}y acme',
  );
  expect(new Set(keys.map(({ partition }) => partition)).size).toBe(1);
  expect(await drawn.json('show kv')).toMatchObject({
    partitioner: { kind: 'hash-intervals', hashKey: '{tag}', partitions: 5, intervals: 5 },
  });
});

test.each([
  ['ranges --boundaries g,n,g', 'INTERVALS_INVALID', 'starts at g, the previous one at n'],
  ['ranges --boundaries g,g', 'INTERVALS_INVALID', 'so that it is empty'],
  ['ranges --boundaries g,', 'INTERVALS_INVALID', 'starts at no key'],
  ['ranges --boundaries 50%', 'KEY_INVALID', 'not a byte in hex'],
  ['ranges --partitions 4', 'USAGE', '--partitions cannot be used with --partitioner ranges'],
  ['ranges --tokens 0,.5', 'USAGE', '--tokens is an option for hash-intervals'],
  ['hash-intervals --tokens .5,.25', 'INTERVALS_INVALID', 'ends at .25, the previous one at .5'],
  ['hash-intervals --tokens .5,.5', 'INTERVALS_INVALID', 'so that it is empty'],
  ['hash-intervals --tokens 0,1', 'INTERVALS_INVALID', '"1" is not a position'],
  ['hash-intervals --tokens 0,.5 --partitions 2', 'USAGE', 'cannot be used with --tokens'],
  ['hash-intervals', 'USAGE', 'neither of'],
  ['hash-intervals --partitions 4 --hash-key 12345678901234567', 'INTERVALS_INVALID', '17 bytes'],
  ['md5-shift --partitions 4 --boundaries g', 'USAGE', 'an option for ranges, not for md5-shift'],
])('--partitioner %s is refused, and no file is written', async (typed, code, message) => {
  const tool = await ringBuilderHere();
  await expect(tool.answer(`create kv --replicas 1 --partitioner ${typed}`)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
  expect(await readdir(tool.folder)).toEqual([]);
});

test('export-swift refuses a ring of ranges; import reads its table as JSON', async () => {
  const tool = await committed('--partitioner ranges --boundaries g,n');
  await expect(tool.answer('export-swift kv kv.ring.gz')).rejects.toMatchObject({
    code: 'RING_NOT_CONVERTIBLE',
    message: expect.stringContaining('places keys by their hash, not by their order'),
  });
  const table = await tool.json<{ table: object; partitioner: object }>('table kv');
  const file = join(tool.folder, 'kv.json');
  await writeFile(file, JSON.stringify(table));
  await tool.json(['import', 'other', '--from-json', file]);
  const { table: same, partitioner } = await tool.json<typeof table>('table other');
  expect([same, partitioner]).toEqual([table.table, table.partitioner]);
  expect(await tool.json('verify other')).toMatchObject({ ok: true });
});

test('a version restores the builder with its intervals, and diff shows no change', async () => {
  const tool = await committed('--partitioner hash-intervals --tokens .1,.2,.9');
  await tool.json('set-weight kv d0 2');
  await tool.json('commit kv -m heavier');
  expect(await tool.json('diff kv 1 2')).toMatchObject({ settings: [] });
  const before = await readFile(join(tool.folder, 'rings/kv/builder.json'), 'utf8');
  const version = join(tool.folder, 'rings/kv/versions/0000002.ring');
  const other = await ringBuilderHere();
  await other.json(['restore', 'kv', '--from', version]);
  const after = await readFile(join(other.folder, 'rings/kv/builder.json'), 'utf8');
  const stateOf = (text: string): unknown => (JSON.parse(text) as { state: unknown }).state;
  expect(stateOf(after)).toEqual(stateOf(before));
});
