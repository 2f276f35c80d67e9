// Tests the count of expired records, many of which expire at once. The oracle is a plain count
// over the writes.
import { seededRandom } from '@ringwright/base/random';
import { expect, test, vi } from 'vitest';
import { scratch, write } from '../test/support/scratch-store.ts';
import { newTables } from './file/new-partition-file.ts';
import { OpenFiles } from './file/open-files.ts';
import { statements } from './file/partition-statements.ts';

/** One row of EXPLAIN. */
interface Opcode {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
}

const COUNT = 30_000;
const LAST_MS = 1_000;
/** Half of the records expire at this time: more than are counted in one turn. */
const COMMON_MS = 600;

test('expired records are counted correctly', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const random = seededRandom(7);
  const writes = Array.from({ length: COUNT }, (_, index) => {
    const drawn = 1 + random.below(LAST_MS);
    const expiresMs = [0, COMMON_MS, COMMON_MS, drawn][random.below(4)] ?? 0;
    return { ...write(`k${index}`, random.below(9) === 0 ? null : 'v', 1), expiresMs };
  });
  for (let at = 0; at < COUNT; at += 5_000) await store.write(writes.slice(at, at + 5_000));
  for (const nowMs of [0, 1, 300, COMMON_MS - 1, COMMON_MS, 601, 900, LAST_MS, 5_000]) {
    const expired = writes.filter(
      ({ value, expiresMs }) => value !== null && expiresMs > 0 && expiresMs <= nowMs,
    );
    expect(await store.expired('test', 0, nowMs), `at ${nowMs}`).toBe(expired.length);
  }
});

test('records that expire at the same time are counted in several turns', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const writes = Array.from({ length: COUNT }, (_, index) => ({
    ...write(`k${index}`, index % 3 === 0 ? null : 'v', 1),
    expiresMs: COMMON_MS,
  }));
  for (let at = 0; at < COUNT; at += 5_000) await store.write(writes.slice(at, at + 5_000));
  const counting = store.expired('test', 0, LAST_MS);
  let isOver = false;
  void counting.then(() => (isOver = true));
  let turns = 0;
  for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(await counting).toBe((COUNT / 3) * 2);
  expect(turns).toBeGreaterThanOrEqual(5);
});

test('each turn begins in the expiry index where the turn before ended', () => {
  const ids = { incarnation: 'i', life: 'i' };
  using cleanup = new DisposableStack();
  const { make } = newTables({ ...ids, keyspace: 'test', partition: 0, state: 'ready' });
  const db = cleanup.adopt(make(), (tables) => tables.close());
  for (const [statement, bound] of [
    [statements.expiryAt(db), [1, 2, 3]],
    [statements.expired(db), [1, 2]],
  ] as const) {
    const explained = db.prepare<unknown[], Opcode>(`EXPLAIN ${statement.source}`);
    const opcodes = explained.all(...bound);
    const seek = opcodes.find(({ opcode }) => opcode === 'SeekGT');
    const setter = opcodes.find(({ opcode, p2 }) => opcode !== 'Init' && p2 === seek?.p3);
    expect(setter, 'it starts behind the first parameter').toMatchObject({
      opcode: 'Variable',
      p1: 1,
    });
  }
});

test('a closed file without records that expire is not opened to count them', async () => {
  await using place = scratch();
  const store = await place.openReady({ openPartitionFilesMax: 1, memtableRowsMax: 1 });
  for (const partition of [1, 2]) await store.create('test', partition, 'ready');
  await store.write([write('lasting', 'v', 1, 0)]);
  await store.write([{ ...write('expiring', 'v', 1, 1), expiresMs: 5 }]);
  await store.write([write('lasting', 'v', 1, 2)]); // it closes the other two
  const opening = vi.spyOn(OpenFiles.prototype, 'replace');
  try {
    expect(await store.expired('test', 0, 9)).toBe(0);
    expect(opening).not.toHaveBeenCalled();
    expect(await store.expired('test', 1, 9)).toBe(1);
    expect(opening).toHaveBeenCalled();
    await store.write([{ ...write('expiring too', 'v', 2, 0), expiresMs: 5 }]);
    await store.write([write('lasting', 'v', 2, 2)]);
    expect(await store.expired('test', 0, 9)).toBe(1);
  } finally {
    opening.mockRestore();
  }
});
