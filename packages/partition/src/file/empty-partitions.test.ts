// Tests partitions that have a line in `empty-partitions` and no file yet. A crash between writing
// the line, the folder and the log loses no record and creates none.
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  copyPartition,
  cutUnfinished,
  scratch,
  textOf,
  write,
} from '../../test/support/scratch-store.ts';
import { withStoreView } from '../inspect-store.ts';
import type { Store } from '../store.ts';
import type { PartitionState } from './partition-info.ts';

const linesOf = (directory: string): string => join(directory, 'empty-partitions');
const folders = (directory: string): string[] =>
  existsSync(join(directory, 'partitions/test'))
    ? readdirSync(join(directory, 'partitions/test'))
    : [];

async function emptyOnes(
  store: Store,
  count: number,
  state: PartitionState = 'filling',
): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  await Promise.all(numbers.map((number) => store.create('test', number, state)));
}

test('a thousand empty partitions need only one file, also when read or changed', async () => {
  await using place = scratch();
  const store = await place.open();
  await emptyOnes(store, 1_000);
  await Promise.all([1, 2, 3].map((number) => store.setState('test', number, 'ready')));
  expect(textOf(store, 'a', 7)).toBeUndefined();
  expect(store.stampsSince('test', 7, 0, { rowsMax: 9, bytesMax: 999 }).rows).toEqual([]);
  expect(store.peers.confirmed({ keyspace: 'test', partition: 7 }, 'd2')).toBe(0);
  expect(await store.scrub('test', 7)).toEqual({ bytes: 0, findings: [] });
  await store.drop('test', 9);
  expect(await store.trash.list()).toEqual([]);
  const before = store.list();
  expect(folders(place.directory)).toEqual([]);
  await store.close();
  await withStoreView(place.directory, (view) => {
    expect(view.list()).toEqual(before);
    expect(view.newest('test', 7, 5)).toEqual([]);
  });
  const again = await place.open();
  expect(again.list()).toEqual(before);
  expect(again.info('test', 2)?.state).toBe('ready');
  expect(folders(place.directory)).toEqual([]);
});

test('the first write creates a file; a power loss before a checkpoint loses nothing', async () => {
  await using place = scratch();
  const store = await place.open();
  await emptyOnes(store, 3, 'ready');
  await store.write([write('a', 'x', 5, 1), write('b', 'y', 5, 1)]);
  await store.setState('test', 1, 'filling');
  const info = store.info('test', 1);
  expect(folders(place.directory)).toEqual(['1']);
  const image = place.image();
  cutUnfinished(image.directory);
  const after = await image.open();
  expect(after.info('test', 1)).toEqual(info);
  expect(textOf(after, 'b', 1)).toBe('y');
  await after.close();
  // The file is finished: its line is canceled and its log segments are gone.
  expect(readFileSync(linesOf(image.directory), 'utf8')).not.toMatch(/^test 1 /m);
  rmSync(linesOf(image.directory));
  const last = await image.open();
  expect(textOf(last, 'a', 1)).toBe('x');
  expect(last.list()).toHaveLength(1);
});

test('a finished folder overrides a line that says its partition is empty', async () => {
  await using place = scratch();
  const store = await place.open();
  await emptyOnes(store, 2);
  const lines = readFileSync(linesOf(place.directory));
  await store.write([write('a', 'x', 5, 1)]);
  await store.close();
  writeFileSync(linesOf(place.directory), lines); // as if the line that cancels it were damaged
  const again = await place.open();
  expect(textOf(again, 'a', 1)).toBe('x');
});

test('damaged and torn lines are ignored, and the other lines stay valid', async () => {
  await using place = scratch();
  const store = await place.open();
  await emptyOnes(store, 3);
  await store.close();
  const text = readFileSync(linesOf(place.directory), 'latin1');
  writeFileSync(linesOf(place.directory), text.replace('test 1 ', 'test 4 '));
  appendFileSync(linesOf(place.directory), 'test 5 12');
  const again = await place.open();
  expect(new Set(again.list().map(({ partition }) => partition))).toEqual(new Set([0, 2]));
  await again.create('test', 6, 'ready');
  expect(readFileSync(linesOf(place.directory), 'latin1')).not.toContain('test 5 12');
});

test('a running store reports and rewrites a deleted list of empty partitions', async () => {
  await using place = scratch();
  const store = await place.open();
  await emptyOnes(store, 3);
  rmSync(linesOf(place.directory));
  expect((await store.checkOpenFiles()).log).toMatchObject({ code: 'LOG_DAMAGED' });
  expect(await store.checkOpenFiles()).toMatchObject({ log: null, lost: [] });
  const image = place.image();
  const reopened = await image.open();
  expect(reopened.list()).toHaveLength(3);
  // Nothing was written to the list since this start, and the first try fails.
  const lines = linesOf(image.directory);
  rmSync(lines);
  mkdirSync(`${lines}.new`);
  expect((await reopened.checkOpenFiles()).errors).toHaveLength(1);
  rmdirSync(`${lines}.new`);
  expect((await reopened.checkOpenFiles()).log).toMatchObject({ code: 'LOG_DAMAGED' });
  await reopened.create('test', 3, 'filling');
  expect((await image.image().open()).list()).toHaveLength(4);
});

test('a list that was replaced before a line was added is rewritten too', async () => {
  await using place = scratch();
  const store = await place.open();
  await emptyOnes(store, 2);
  const lines = linesOf(place.directory);
  copyFileSync(lines, `${lines}.edited`);
  renameSync(`${lines}.edited`, lines);
  await store.create('test', 2, 'filling');
  expect((await store.checkOpenFiles()).log).toMatchObject({ code: 'LOG_DAMAGED' });
  const image = place.image();
  expect((await image.open()).list()).toHaveLength(3);
});

test('a partition without a file adopts a copy, also during its first write', async () => {
  await using place = scratch();
  await using other = scratch();
  const [store, from] = [await place.open(), await other.open()];
  await Promise.all([store, from].map((each) => emptyOnes(each, 2)));
  await from.write([write('a', 'copied', 5, 1)]);
  await Promise.all([copyPartition(from, store, 1), store.write([write('b', 'mine', 6, 1)])]);
  await copyPartition(from, store, 0);
  const image = place.image();
  cutUnfinished(image.directory);
  for (const each of [store, await image.open()]) {
    expect([textOf(each, 'a', 1), textOf(each, 'b', 1)]).toEqual(['copied', 'mine']);
    expect(each.list()).toHaveLength(2);
  }
});

test('the list of empty partitions is compacted when stale lines pile up', async () => {
  await using place = scratch();
  const store = await place.open();
  await store.create('test', 0, 'filling');
  for (let round = 0; round < 50; round += 1) {
    const states = Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? 'ready' : 'filling'));
    await Promise.all(states.map((state) => store.setState('test', 0, state)));
  }
  const { length } = readFileSync(linesOf(place.directory), 'latin1').split('\n');
  expect(length).toBeLessThan(5_000);
  expect(store.info('test', 0)?.state).toBe('filling');
});

test('allBefore resolves after every write that was queued before it', async () => {
  await using place = scratch();
  const store = await place.open();
  await emptyOnes(store, 2);
  let isWritten = false;
  const written = store.write([write('a', 'x', 5, 0)]).then(() => (isWritten = true));
  await store.children.allBefore([{ keyspace: 'test', partition: 1 }]);
  expect(isWritten).toBe(true);
  await written;
});

test('after a line that could not be written, a close reports the failed store', async () => {
  // Not `await using`: the close of a failed store rejects.
  const place = scratch();
  const store = await place.open();
  mkdirSync(`${linesOf(place.directory)}.new`);
  const failed = { code: 'STORE_FAILED' };
  await expect(store.create('test', 0, 'ready')).rejects.toMatchObject(failed);
  await expect(store.close()).rejects.toMatchObject(failed);
  rmSync(place.directory, { recursive: true });
});
