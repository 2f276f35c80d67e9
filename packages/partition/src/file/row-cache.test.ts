// Tests cached rows: rows that are read stay cached within the byte limit, and no cached row
// outlives the row in the file.
import { must } from '@ringwright/base/assert';
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import { expect, test } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';
import type { HashedRow } from './record.ts';
import { RowCache } from './row-cache.ts';

function row(key: string, value: string | null): HashedRow {
  const bytes = value === null ? null : Buffer.from(value);
  const stamp = { ms: 7, tie: 1, expiresMs: 0, origin: null };
  return { ...stamp, key: Buffer.from(key), value: bytes, seq: 9, hash: Buffer.alloc(8) };
}

const names = Array.from({ length: 1_000 }, (_, index) => `key-${index}`);
const found = (cache: RowCache) => names.filter((name) => cache.find(name) !== undefined);

test('the cache stays within its byte limit and keeps rows that are read', () => {
  const cache = new RowCache();
  cache.limit(100 * 1_000);
  for (const name of names) {
    cache.keep(name, row(name, 'v'.repeat(800)));
    cache.find('key-3');
  }
  expect(cache.find('key-3')).toBeDefined();
  for (const name of names.slice(-45)) expect(cache.find(name)).toBeDefined();
  expect(found(cache).length).toBeLessThanOrEqual(100);
});

test('rows and deletions are cached as in the file, but none longer than a quarter of it', () => {
  const cache = new RowCache();
  cache.limit(4 * 5_000);
  cache.keep('a', row('a', 'four'));
  cache.keep('b', row('b', null));
  cache.keep('c', row('c', 'v'.repeat(5_000)));
  cache.keep('d', row('d', 'v'.repeat(4_900)));
  expect(cache.find('a')).toMatchObject({ ms: 7, replaces: 9, valueBytes: 4 });
  expect(cache.find('b')).toMatchObject({ value: null, valueBytes: null });
  expect(cache.find('c')).toBeUndefined();
  expect(cache.find('d')).toMatchObject({ valueBytes: 4_900 });
});

test('a long row that is alone in its chunk survives that a caller frees its value', () => {
  const cache = new RowCache();
  cache.keep('long', row('long', 'v'.repeat(100_000)));
  freeOwnBytes(must(cache.find('long')?.value, 'it is cached'));
  expect(Buffer.alloc(100_000, 'v').equals(must(cache.find('long')?.value, 'still'))).toBe(true);
});

test('a long row that is read again stays, in the same memory', () => {
  const cache = new RowCache();
  cache.limit(400_000);
  cache.keep('long', row('long', 'v'.repeat(50_000)));
  const chunk = cache.find('long')?.value?.buffer;
  for (const name of names.slice(0, 20)) {
    cache.keep(name, row(name, 'v'.repeat(60_000)));
    expect(cache.find('long')?.value?.buffer).toBe(chunk);
  }
  expect(found(cache).length, 'the limit counts it too').toBeLessThanOrEqual(6);
});

test('a small cache allocates small chunks of memory', () => {
  for (const [bytesMax, piece] of [
    [8_000, 2_000],
    [1_000_000, 16_384],
    [1_100, 275],
  ] as const) {
    const cache = new RowCache();
    cache.limit(bytesMax);
    cache.keep('key', row('key', 'v'.repeat(99)));
    expect(cache.find('key')?.value?.buffer.byteLength).toBe(piece);
  }
});

test('a forgotten row leaves both generations, and clear removes all rows', () => {
  const cache = new RowCache();
  cache.limit(8 * 1_000);
  for (const name of names.slice(0, 2)) cache.keep(name, row(name, 'v'.repeat(1_800)));
  cache.find('key-0');
  cache.forget('key-0');
  expect(found(cache)).toEqual(['key-1']);
  cache.clear();
  expect(found(cache)).toEqual([]);
});

test('a cached row is not returned after a newer version was written', async () => {
  await using place = scratch();
  const store = await place.openReady({ memtableRowsMax: 2 });
  for (let round = 1; round < 6; round += 1) {
    const value = round === 3 ? null : `round ${round}`;
    await store.write([write('a', value, round), write(`b${round}`, 'x', round)]);
    expect(store.info('test', 0)?.seq).toBe(2 * round);
    expect([textOf(store, 'a'), textOf(store, 'a')]).toEqual([value, value]);
    expect((await store.write([write('a', 'late', round - 1)]))[0]?.kind).toBe('stale');
  }
});

test('a partition without requests frees its cached rows', async () => {
  await using place = scratch();
  const store = await place.openReady({ memtableRowsMax: 1 });
  await store.write([write('a', 'x', 1)]);
  expect(textOf(store, 'a')).toBe('x');
  const memory = () => store.read('test', 0, Buffer.from('a'))?.value?.buffer;
  const piece = memory();
  store.requests.count(1_000);
  expect(memory()).toBe(piece);
  store.requests.count(1_000);
  store.requests.count(1_000);
  expect(textOf(store, 'a')).toBe('x');
  expect(memory()).not.toBe(piece);
});
