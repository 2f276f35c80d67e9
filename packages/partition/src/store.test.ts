// Tests the calls of a store: writes, reads, pages, refusals, limits, watermarks and close.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keyBytesMax, valueBytesMax } from '@ringwright/base/limits';
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { copyPartition, logFiles, scratch, textOf, write } from '../test/support/scratch-store.ts';

const codeOf = (code: string) => expect.objectContaining({ code });

test('a newer stamp wins, an equal one changes nothing, an older one is stale', async () => {
  await using place = scratch();
  const store = await place.openReady();
  expect(await store.write([write('a', 'one', 5), write('b', 'two', 5)])).toEqual([
    { kind: 'applied' },
    { kind: 'applied' },
  ]);
  expect(await store.write([write('a', 'old', 4), write('a', 'one', 5)])).toEqual([
    { kind: 'stale', ms: 5, tie: 1 },
    { kind: 'same' },
  ]);
  expect(await store.write([write('a', null, 6), write('a', 'x', 1, 9)])).toEqual([
    { kind: 'applied' },
    { kind: 'absent' },
  ]);
  expect(textOf(store, 'a')).toBeNull();
  expect(store.info('test', 0)).toMatchObject({ seq: 3, rows: 1, tombstones: 1, bytes: 3 });
  expect(store.highestMs()).toBe(6);
});

test('pages by sequence skip replaced rows, and pages by key keep to their bounds', async () => {
  await using place = scratch();
  const store = await place.openReady();
  for (const [index, key] of ['a', 'b', 'c', 'a', 'd'].entries()) {
    await store.write([write(key, `v${index}`, index + 1)]);
  }
  const bounds = { rowsMax: 2, bytesMax: 1_000 };
  const first = store.rowsSince('test', 0, 0, bounds);
  expect(first.rows.map(({ key, seq }) => `${key.toString()}${seq}`)).toEqual(['b2', 'c3']);
  expect(first).toMatchObject({ lastSeq: 3, more: true });
  const second = store.stampsSince('test', 0, 3, bounds);
  expect(second.rows.map(({ key, seq }) => `${key.toString()}${seq}`)).toEqual(['a4', 'd5']);
  expect(second).toMatchObject({ lastSeq: 5, more: false });
  expect(store.rowsSince('test', 0, 0, { rowsMax: 9, bytesMax: 1 }).rows).toHaveLength(1);
  const scanned = (from: string, to: string | null, reverse = false): string => {
    const bounds = { from: Buffer.from(from), to: to === null ? null : Buffer.from(to), reverse };
    return store.pages
      .read({ keyspace: 'test', partition: 0 }, { ...bounds, limit: 2, bytesMax: 1_000, nowMs: 0 })
      .rows.map(({ key }) => key.toString())
      .join('');
  };
  expect([scanned('b', null), scanned('', 'b'), scanned('b', 'c')]).toEqual(['bc', 'a', 'b']);
  expect([scanned('', null, true), scanned('a', 'd', true)]).toEqual(['dc', 'cb']);
});

test('invalid writes and names are refused with a code, and nothing is written', async () => {
  await using place = scratch();
  const store = await place.openReady({ logQueueBytesMax: 4_096 });
  const good = write('good', 'v', 1);
  const bad = [
    [{ ...good, key: Buffer.alloc(0) }, 'KEY_INVALID'],
    [{ ...good, key: Buffer.alloc(keyBytesMax + 1) }, 'KEY_INVALID'],
    [{ ...good, value: Buffer.alloc(valueBytesMax + 1) }, 'VALUE_TOO_LARGE'],
    [{ ...good, ms: -1 }, 'VALUE_OUT_OF_RANGE'],
    [{ ...good, ms: 1.5 }, 'VALUE_OUT_OF_RANGE'],
    [{ ...good, tie: 2 ** 40 }, 'VALUE_OUT_OF_RANGE'],
    [{ ...good, value: Buffer.alloc(8_000) }, 'STORE_BUSY'],
  ] as const;
  for (const [wrong, code] of bad) {
    await expect(store.write([good, wrong])).rejects.toEqual(codeOf(code));
  }
  expect(store.info('test', 0)).toMatchObject({ seq: 0 });
  for (const name of ['', '..', 'A', 'a/b', 'x'.repeat(64), '-a']) {
    await expect(store.create(name, 0, 'ready')).rejects.toEqual(codeOf('NAME_INVALID'));
  }
  for (const number of [-1, 1.5, 2 ** 24, Number.NaN]) {
    await expect(store.create('test', number, 'ready')).rejects.toEqual(
      codeOf('VALUE_OUT_OF_RANGE'),
    );
  }
  await expect(store.create('test', 0, 'ready')).rejects.toEqual(codeOf('PARTITION_EXISTS'));
  expect(() => store.read('test', 1, Buffer.from('a'))).toThrow(codeOf('PARTITION_ABSENT'));
  expect(store.info('test', 1)).toBeNull();
});

test('the largest key and value, and an empty value, are read as written', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const key = Buffer.alloc(keyBytesMax, 7);
  const value = Buffer.alloc(valueBytesMax, 9);
  const writes = Array.from({ length: 9 }, (_, tie) => ({ ...write('', '', 1), key, value, tie }));
  await store.write(writes);
  expect(store.read('test', 0, key)?.value?.equals(value)).toBe(true);
  await store.write([{ ...write('empty', '', 1) }]);
  expect(textOf(store, 'empty')).toBe('');
});

test('a caller may reuse its arrays as soon as write has returned its promise', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const mine = write('key', 'value', 1);
  const written = store.write([mine]);
  mine.key.fill(0);
  mine.value?.fill(0);
  await written;
  expect(textOf(store, 'key')).toBe('value');
});

test('values that were read do not change when their rows change', async () => {
  await using place = scratch();
  const store = await place.openReady({ memtableRowsMax: 24 });
  const random = seededRandom(7);
  const kept: { readonly value: Buffer; readonly text: string }[] = [];
  const newest = new Map<string, string>();
  for (let ms = 1; ms <= 300; ms += 1) {
    const key = `k${random.below(20)}`;
    const text = `${ms} `.repeat(random.below(2) === 0 ? 10 : 8_000);
    await store.write([write(key, text, ms)]);
    newest.set(key, text);
    const pages =
      random.below(20) === 0
        ? store.rowsSince('test', 0, 0, { rowsMax: 9, bytesMax: 1e6 }).rows
        : [];
    const row = random.below(3) === 0 ? store.read('test', 0, Buffer.from(key)) : null;
    for (const { value } of row === null ? pages : [row, ...pages]) {
      if (value !== null) kept.push({ value, text: value.toString() });
    }
  }
  for (const [key, text] of newest) expect(textOf(store, key) === text, key).toBe(true);
  for (const { value, text } of kept) expect(value.toString() === text).toBe(true);
});

test('a second store on a directory is refused, in this and in another process', async () => {
  await using place = scratch();
  const store = await place.open();
  await expect(place.open()).rejects.toEqual(codeOf('DATA_DIR_IN_USE'));
  const opener = fileURLToPath(new URL('../test/support/open-once.ts', import.meta.url));
  const said = execFileSync(process.execPath, [opener, place.directory], { encoding: 'utf8' });
  expect(said).toContain('DATA_DIR_IN_USE');
  await store.close();
  await (await place.open()).close();
});

test('below the reserve, writes, creations and copies are refused, but not reads', async () => {
  await using place = scratch();
  const full = await place.openReady();
  await full.write([write('a', 'one', 1)]);
  const snapshot = await full.snapshot('test', 0);
  const { manifest } = snapshot;
  await snapshot.release();
  await full.close();
  const store = await place.open({ diskReserveBytes: Number.MAX_SAFE_INTEGER });
  await expect(store.create('test', 1, 'ready')).rejects.toEqual(codeOf('DISK_FULL'));
  await expect(store.receiveCopy('test', 0, manifest)).rejects.toEqual(codeOf('DISK_FULL'));
  await expect(store.write([write('a', 'two', 2)])).rejects.toEqual(codeOf('DISK_FULL'));
  expect(textOf(store, 'a')).toBe('one');
});

test('a store serves more partitions than it keeps files open', async () => {
  await using place = scratch();
  const store = await place.open({ openPartitionFilesMax: 3 });
  const numbers = Array.from({ length: 12 }, (_, number) => number);
  await Promise.all(numbers.map((number) => store.create('test', number, 'ready')));
  for (const ms of [1, 2]) {
    await store.write(numbers.map((number) => write('k', `${number}-${ms}`, ms, number)));
  }
  for (const number of numbers) expect(textOf(store, 'k', number)).toBe(`${number}-2`);
  const wals = readdirSync(place.directory, { recursive: true, encoding: 'utf8' });
  expect(wals.filter((name) => name.endsWith('-wal')).length).toBeLessThanOrEqual(3);
  expect(store.list().map(({ seq }) => seq)).toEqual(numbers.map(() => 2));
});

test('log segments are removed after checkpoints, and a clean close leaves none', async () => {
  await using place = scratch();
  const store = await place.openReady({ logSegmentBytesMax: 4_096, walBytesMax: 40_000 });
  await store.create('test', 1, 'ready');
  await store.write([write('rare', 'x', 1, 1)]);
  for (let ms = 1; ms <= 300; ms += 1) await store.write([write(`k${ms}`, 'v'.repeat(100), ms)]);
  expect(logFiles(place.directory).length).toBeLessThanOrEqual(4);
  await store.close();
  expect(logFiles(place.directory)).toEqual([]);
  const again = await place.open();
  expect(again.info('test', 0)).toMatchObject({ rows: 300 });
  expect(textOf(again, 'rare', 1)).toBe('x');
});

test('a watermark never exceeds the sequence and ends with the incarnation', async () => {
  await using place = scratch();
  await using other = scratch();
  const store = await place.open();
  const source = await other.open();
  for (const each of [store, source]) {
    await each.create('test', 0, 'filling');
    await each.write([write('a', 'x', 1), write('b', 'y', 1)]);
  }
  store.peers.confirm({ keyspace: 'test', partition: 0 }, 'peer', 2);
  store.peers.confirm({ keyspace: 'test', partition: 0 }, 'peer', 1);
  expect(store.peers.confirmed({ keyspace: 'test', partition: 0 }, 'peer')).toBe(2);
  expect(() => store.peers.confirm({ keyspace: 'test', partition: 0 }, 'peer', 3)).toThrow(
    codeOf('VALUE_OUT_OF_RANGE'),
  );
  await store.close();
  const again = await place.open();
  expect(again.peers.confirmed({ keyspace: 'test', partition: 0 }, 'peer')).toBe(2);
  const before = again.info('test', 0)?.incarnation;
  await copyPartition(source, again);
  expect(again.peers.confirmed({ keyspace: 'test', partition: 0 }, 'peer')).toBe(0);
  expect(again.info('test', 0)?.incarnation).not.toBe(before);
});

test('calls after close are refused with STORE_CLOSED', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const last = store.write([write('a', 'x', 1)]);
  const closing = store.close();
  await expect(store.write([write('a', 'y', 2)])).rejects.toEqual(codeOf('STORE_CLOSED'));
  expect(await last).toEqual([{ kind: 'applied' }]);
  await closing;
  expect(() => store.list()).toThrow(codeOf('STORE_CLOSED'));
  await store.close();
});
