// Tests the count of expired records, many of which expire at once. The oracle is a plain count
// over the writes.
import { seededRandom } from '@ringwright/base/random';
import { expect, test, vi } from 'vitest';
import { scratch, write } from '../test/support/scratch-store.ts';
import { OpenFiles } from './file/open-files.ts';

const COUNT = 30_000;
const LAST_MS = 1_000;
/** Half of the records expire at this time: more than are counted in one turn. */
const COMMON_MS = 600;

test('expired records are counted correctly, in several turns of the event loop', async () => {
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
  let turns = 0;
  const timer = setInterval(() => {}, 1);
  const counting = store.expired('test', 0, LAST_MS).finally(() => clearInterval(timer));
  let isOver = false;
  void counting.then(() => (isOver = true));
  for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(turns).toBeGreaterThanOrEqual(2);
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
