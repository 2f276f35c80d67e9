// Tests the adoption of children, which a helper process builds from the files of their parents.
// The oracle is the rows that were written. Every folder is audited when its test ends.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { valueBytesMax } from '@ringwright/base/limits';
import { mergeBytesMax, mergeRowsMin } from '@ringwright/base/limits-store';
import { seededRandom } from '@ringwright/base/random';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { RangesPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { expect, test, vi } from 'vitest';
import { scratch, textOf, write } from '../test/support/scratch-store.ts';
import { PartitionFile } from './file/partition-file.ts';
import type { StoredRecord, Write } from './file/record.ts';
import { SideProcess } from './side/side-process.ts';
import type { Store } from './store.ts';

const SEED = 20_261_125;
const all = { rowsMax: 100_000, bytesMax: 100_000_000 };

/** Parents 0 and 1, and children 2, 3 and 4 of other intervals: child 3 gets rows of both parents. */
const parentsBy: RangesPartitioner = { kind: 'ranges', partitions: 2, starts: ['m'] };
const childrenBy: RangesPartitioner = {
  kind: 'ranges',
  partitions: 5,
  starts: ['c', 'p'],
  ids: [2, 3, 4],
};

async function opened(store: Store): Promise<void> {
  for (const id of [0, 1]) await store.create('test', id, 'ready');
  for (const id of [2, 3, 4]) await store.create('test', id, 'filling');
}

function adopt(store: Store, parents: readonly number[], children: readonly number[]) {
  const files = children.map((partition) => {
    const { incarnation = '' } = store.info('test', partition) ?? {};
    return { partition, incarnation };
  });
  return store.children.adopt({
    ...{ keyspace: 'test', partitioner: childrenBy },
    ...{ parents, children: files },
  });
}

/** Returns a random write. Some writes expire, have an origin, delete, or replace earlier writes. */
function randomWrite(random: ReturnType<typeof seededRandom>, ms: number): Write {
  const letter = String.fromCharCode(97 + random.below(26));
  const name = `${letter}/${random.below(300)}`;
  const value = random.below(8) === 0 ? null : 'x'.repeat(random.below(2_000));
  const plain = write(name, value, ms, partitionerOf(parentsBy)(Buffer.from(name)));
  const expires = random.below(9) === 0 ? { expiresMs: ms + 1_000_000 } : {};
  const origin = random.below(9) === 0 ? { origin: { ms: ms - 1, tie: 3 } } : {};
  return { ...plain, ...expires, ...origin };
}

const textIn = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

function textsOf(rows: readonly StoredRecord[]): string[] {
  return rows
    .map(({ key, value, ms, tie, expiresMs, origin }) =>
      JSON.stringify([textIn(key), value && textIn(value), ms, tie, expiresMs, origin]),
    )
    .sort();
}

function rowsOf(store: Store, partition: number): string[] {
  return textsOf(store.rowsSince('test', partition, 0, all).rows);
}

test(`each child gets the rows of its keys and keeps its own rows (seed ${SEED})`, async () => {
  await using place = scratch();
  const store = await place.open();
  await opened(store);
  const random = seededRandom(SEED);
  const writes = Array.from({ length: 6_000 }, (_, index) => randomWrite(random, 1_000 + index));
  for (let at = 0; at < writes.length; at += 500) await store.write(writes.slice(at, at + 500));
  // One is newer and one is older than the rows of the parents.
  const [newer, older] = [write('a/1', 'newer', 1_000_000, 2), write('a/2', 'older', 1, 2)];
  await store.write([newer, older]);
  const inParents = [0, 1].flatMap((id) => store.rowsSince('test', id, 0, all).rows);
  const adopted = await adopt(store, [0, 1], [2, 3, 4]);
  const childOf = partitionerOf(childrenBy);
  for (const id of [2, 3, 4]) {
    const expected = inParents.filter(({ key }) => childOf(key) === id);
    expect(expected.length).toBeGreaterThan(100);
    expect(adopted.get(id)).toMatchObject({
      rows: expected.length,
      incarnation: store.info('test', id)?.incarnation,
    });
    const others = expected.filter(({ key }) => !['a/1', 'a/2'].includes(textIn(key)));
    const isOther = (row: string): boolean => !/^\["a\/[12]"/.test(row);
    expect(rowsOf(store, id).filter(isOther)).toEqual(textsOf(others));
    expect(store.info('test', id)).toMatchObject({ state: 'filling', floorMs: 0 });
  }
  expect(textOf(store, 'a/1', 2)).toBe('newer');
  expect(textOf(store, 'a/2', 2)).not.toBe('older');
  const before = [2, 3, 4].map((id) => rowsOf(store, id));
  // A second adoption changes nothing, and a kill right after it loses nothing.
  await adopt(store, [0, 1], [2, 3, 4]);
  expect([2, 3, 4].map((id) => rowsOf(store, id))).toEqual(before);
  expect(readdirSync(join(place.directory, 'staging'))).toEqual([]);
  const killed = await place.image().open();
  expect([2, 3, 4].map((id) => rowsOf(killed, id))).toEqual(before);
});

test('empty parents, and children that get no rows, have no file', async () => {
  await using place = scratch();
  const store = await place.open();
  await opened(store);
  const { incarnation } = store.info('test', 3) ?? {};
  expect((await adopt(store, [0, 1], [3])).get(3)).toEqual({ rows: 0, bytes: 0, incarnation });
  await store.write([write('b', 'a value', 1, 0)]);
  await adopt(store, [0, 1], [2, 3, 4]);
  expect(textOf(store, 'b', 2)).toBe('a value');
  expect(store.info('test', 3)?.incarnation).toBe(incarnation);
  const homes = readdirSync(join(place.directory, 'partitions/test'));
  expect(homes.sort()).toEqual(['0', '2']);
});

test('children get the rows of a parent that has its rows in memory', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const id of [0, 2, 3, 4]) await store.create('test', id, 'filling');
  await store.write([write('b', 'a value', 1, 0)]);
  await store.setState('test', 0, 'ready');
  await adopt(store, [0], [2, 3, 4]);
  expect(textOf(store, 'b', 2)).toBe('a value');
});

test('a child that was created again after the mirror began gets no rows', async () => {
  await using place = scratch();
  const store = await place.open();
  await opened(store);
  await store.write([write('b', 'a value', 1, 0)]);
  const children = [{ partition: 2, incarnation: store.info('test', 2)?.incarnation ?? '' }];
  await store.drop('test', 2);
  await store.create('test', 2, 'filling');
  const family = { keyspace: 'test', partitioner: childrenBy, parents: [0], children };
  await expect(store.children.adopt(family)).rejects.toMatchObject({ code: 'PARTITION_ABSENT' });
  expect(rowsOf(store, 2)).toEqual([]);
});

test('rows that arrive during a merge in the side process are merged there too', async () => {
  await using place = scratch();
  const store = await place.open();
  await opened(store);
  await store.write([write('b', 'a value', 1, 0)]);
  const comes = async (round: number, count: number): Promise<void> => {
    const names = Array.from({ length: count }, (_, index) => `a/${index % 300}/${round}`);
    for (const ms of [2, 3]) await store.write(names.map((name) => write(name, 'new', ms, 2)));
  };
  await comes(0, mergeRowsMin);
  const merge = Reflect.get(SideProcess.prototype, 'merge') as SideProcess['merge'];
  const merged = vi.spyOn(SideProcess.prototype, 'merge');
  merged.mockImplementation(async function during(this: SideProcess, work) {
    await merge.call(this, work);
    const round = merged.mock.calls.length;
    if (round < 3) await comes(round, mergeRowsMin);
  });
  await adopt(store, [0], [2]);
  vi.restoreAllMocks();
  expect(merged.mock.calls.map(([{ since }]) => since)).toEqual(
    [0, 2, 4].map((n) => n * mergeRowsMin),
  );
  expect(rowsOf(store, 2)).toHaveLength(1 + 3 * mergeRowsMin);
});

test('rows that arrive during a long sync are merged and synced before the last turn', async () => {
  await using place = scratch();
  const store = await place.open();
  await opened(store);
  await store.write([write('b', 'a value', 1, 0)]);
  const sync = Reflect.get(PartitionFile.prototype, 'checkpointInPool') as () => Promise<boolean>;
  const before = [0, 2].map((id) => store.info('test', id)?.incarnation ?? '');
  const counts = [mergeRowsMin + 1, mergeRowsMin, 0];
  vi.spyOn(PartitionFile.prototype, 'checkpointInPool').mockImplementation(async function during(
    this: PartitionFile,
  ) {
    // The checkpointer syncs these files, which existed before.
    if (before.some((name) => this.db.name.includes(name))) return sync.call(this);
    const count = counts.shift() ?? 0;
    const names = Array.from({ length: count }, (_, index) => `a/${counts.length}/${index}`);
    await store.write(names.map((name) => write(name, 'new', 2, 2)));
    return sync.call(this);
  });
  await adopt(store, [0], [2]);
  vi.restoreAllMocks();
  expect(counts, 'rows that one turn may merge cause no third sync').toEqual([0]);
  expect(rowsOf(store, 2)).toHaveLength(1 + mergeRowsMin + 1 + mergeRowsMin);
});

test('long values that arrive during the last sync are merged in several turns', async () => {
  await using place = scratch();
  const store = await place.open();
  await opened(store);
  await store.write([write('b', 'a value', 1, 0)]);
  const sync = Reflect.get(PartitionFile.prototype, 'checkpointInPool') as () => Promise<boolean>;
  const apply = Reflect.get(PartitionFile.prototype, 'apply') as PartitionFile['apply'];
  const before = [0, 2].map((id) => store.info('test', id)?.incarnation ?? '');
  const isCopy = (file: PartitionFile): boolean =>
    !before.some((name) => file.db.name.includes(name));
  let longWrites = 40;
  let turnBytes = 0;
  let mostBytes = 0;
  vi.spyOn(PartitionFile.prototype, 'checkpointInPool').mockImplementation(async function during(
    this: PartitionFile,
  ) {
    for (; isCopy(this) && longWrites > 0; longWrites -= 1) {
      const value = Buffer.alloc(valueBytesMax);
      await store.write([{ ...write(`a/${longWrites}`, '', 2, 2), value }]);
    }
    return sync.call(this);
  });
  vi.spyOn(PartitionFile.prototype, 'apply').mockImplementation(function inTurn(
    this: PartitionFile,
    rows,
  ) {
    if (isCopy(this)) {
      if (turnBytes === 0) setImmediate(() => (turnBytes = 0));
      for (const { value } of rows) turnBytes += value?.length ?? 0;
      mostBytes = Math.max(mostBytes, turnBytes);
    }
    return apply.call(this, rows);
  });
  await adopt(store, [0], [2]);
  vi.restoreAllMocks();
  expect(rowsOf(store, 2)).toHaveLength(41);
  expect(mostBytes).toBeLessThanOrEqual(mergeBytesMax);
});

test('a parent whose rows do not match its digest is refused and marked as damaged', async () => {
  await using place = scratch();
  const first = await place.open();
  await opened(first);
  await first.write([write('b', 'a value', 1, 0), write('b2', 'fine', 1, 0)]);
  const { digest = '' } = first.info('test', 0) ?? {};
  await first.close();
  place.damaged();
  const home = join(place.directory, 'partitions/test/0');
  const [incarnation = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  const file = join(home, incarnation, 'data.db');
  const bytes = readFileSync(file);
  // Changes a row hash, so that the sum of all hashes is no longer the digest.
  const at = bytes.indexOf('a value') + 'a value'.length;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const store = await place.open();
  expect(store.damaged()).toEqual([]);
  await expect(adopt(store, [0], [2])).rejects.toMatchObject({
    code: 'COPY_INVALID',
    message: expect.stringContaining(`digest ${digest}`),
  });
  expect(store.damaged()).toMatchObject([{ partition: 0, error: { code: 'PARTITION_DAMAGED' } }]);
  expect(rowsOf(store, 2)).toEqual([]);
  expect(readdirSync(join(place.directory, 'staging'))).toEqual([]);
});
