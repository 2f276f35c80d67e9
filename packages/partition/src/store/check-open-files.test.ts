// Tests how a running store detects that its data directory was changed from outside.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  logFiles,
  type Scratch,
  scratch,
  textOf,
  write,
} from '../../test/support/scratch-store.ts';
import { openStore } from '../open-store.ts';
import type { Store } from '../store.ts';

const allWell = { partitions: 3, lost: [], log: null, errors: [] };

async function stored(place: Scratch, limits = {}): Promise<Store> {
  const first = await place.open();
  for (const partition of [0, 1, 2]) await first.create('test', partition, 'ready');
  await first.write([0, 1, 2].map((partition) => write('first', 'a file', 1, partition)));
  await first.close(); // the log no longer has these rows
  const store = await place.open(limits);
  await store.write([0, 1, 2].map((partition) => write('key', 'a value', 1, partition)));
  expect(await store.checkOpenFiles()).toEqual(allWell);
  return store;
}

function homeOf({ directory }: Scratch, partition: number): string {
  return join(directory, 'partitions/test', String(partition));
}

function dataOf(place: Scratch, partition: number): string {
  const home = homeOf(place, partition);
  const [incarnation = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  return join(home, incarnation, 'data.db');
}

/** Copies in another process: opening a live database file here would drop SQLite's locks on it. */
const copy = (from: string, to: string): void => void execFileSync('cp', [from, to]);

const harm: Record<string, (place: Scratch) => void> = {
  'the file is deleted': (place) => rmSync(dataOf(place, 1)),
  'its WAL is deleted': (place) => rmSync(`${dataOf(place, 1)}-wal`),
  'the whole folder is deleted': (place) => rmSync(homeOf(place, 1), { recursive: true }),
  'the folder is moved away': (place) =>
    renameSync(homeOf(place, 1), join(place.directory, 'away')),
  'CURRENT is deleted': (place) => rmSync(join(homeOf(place, 1), 'CURRENT')),
  'the file is cut': (place) => truncateSync(dataOf(place, 1), 4_096),
  'its WAL is cut': (place) => truncateSync(`${dataOf(place, 1)}-wal`, 100),
  'a copy takes its place': (place) => {
    const file = dataOf(place, 1);
    copy(file, join(place.directory, 'copy'));
    renameSync(join(place.directory, 'copy'), file);
  },
};

describe('damage of one partition', () => {
  for (const [name, change] of Object.entries(harm)) {
    test(`${name}: the partition takes no writes until it is created again`, async () => {
      await using place = scratch();
      // With this limit, each row is in the WAL at once.
      const store = await stored(place, { memtableRowsMax: 1 });
      change(place);
      const { lost, partitions } = await store.checkOpenFiles();
      expect(lost).toMatchObject([{ partition: 1, error: { code: 'PARTITION_DAMAGED' } }]);
      expect(partitions).toBe(3);
      expect(store.damaged()).toMatchObject([{ keyspace: 'test', partition: 1 }]);
      const outcomes = await store.write([write('key', 'newer', 2, 1), write('key', 'b', 2, 2)]);
      expect(outcomes).toMatchObject([{ kind: 'absent' }, { kind: 'applied' }]);
      expect(() => textOf(store, 'key', 1)).toThrow('file of test/1: ');
      expect((await store.checkOpenFiles()).lost).toEqual([]);
      await store.drop('test', 1);
      await store.create('test', 1, 'filling');
      await store.write([write('key', 'refilled', 3, 1)]);
      expect(await store.checkOpenFiles()).toEqual(allWell);
      expect(textOf(store, 'key', 1)).toBe('refilled');
    });
  }
});

test('a file that cannot be checked now is not lost, and the others are checked', async () => {
  await using place = scratch();
  const store = await stored(place);
  const [home, away] = [homeOf(place, 0), join(place.directory, 'away')];
  renameSync(home, away);
  symlinkSync(home, home); // ELOOP, which is not an error that means that there is no file
  rmSync(dataOf(place, 1));
  const { lost, errors } = await store.checkOpenFiles();
  expect(lost).toMatchObject([{ partition: 1 }]);
  expect(errors).toMatchObject([{ code: 'ELOOP' }]);
  unlinkSync(home);
  renameSync(away, home);
  await store.drop('test', 1);
  expect(await store.checkOpenFiles()).toEqual({ ...allWell, partitions: 2 });
  expect(textOf(store, 'key', 0)).toBe('a value');
});

describe('a lost file that is still open is rewritten', () => {
  for (const name of ['the file is deleted', 'its WAL is deleted', 'the whole folder is deleted']) {
    test(name, async () => {
      await using place = scratch();
      let store = await stored(place);
      harm[name]?.(place);
      await store.checkOpenFiles();
      expect(await store.rewriteLost('test', 1)).toBe(true);
      expect(store.damaged()).toEqual([]);
      await store.write([write('later', 'too', 2, 1)]);
      expect((await store.checkOpenFiles()).lost).toEqual([]);
      await store.close();
      store = await place.open({});
      expect(store.info('test', 1)?.state).toBe('ready');
      expect([textOf(store, 'key', 1), textOf(store, 'later', 1)]).toEqual(['a value', 'too']);
    });
  }

  test('a kill or error during the rewrite leaves the file lost, and no second file', async () => {
    await using place = scratch();
    let onIncarnation = (): void => undefined;
    const newIncarnation = (): string => {
      onIncarnation();
      return randomUUID();
    };
    await (await stored(place)).close(); // the log no longer has its rows
    const store = await openStore({ directory: place.directory, newIncarnation });
    expect(textOf(store, 'key', 1)).toBe('a value');
    unlinkSync(dataOf(place, 1));
    await store.checkOpenFiles();
    const before = readdirSync(homeOf(place, 1));
    let killed: Scratch | undefined;
    onIncarnation = () => {
      killed = place.image();
      killed.damaged();
      const staging = join(place.directory, 'staging');
      const [staged = ''] = readdirSync(staging).filter((name) => name.startsWith('rewrite'));
      writeFileSync(join(staging, staged, 'data.db'), 'no database');
    };
    await expect(store.rewriteLost('test', 1)).rejects.toThrow();
    expect(readdirSync(homeOf(place, 1))).toEqual(before);
    expect((await killed?.open())?.damaged()).toMatchObject([{ keyspace: 'test', partition: 1 }]);
    onIncarnation = () => undefined;
    expect(await store.rewriteLost('test', 1)).toBe(true);
    expect(textOf(store, 'key', 1)).toBe('a value');
    await store.close();
  });

  test('a lost file is not rewritten when another file took its name', async () => {
    await using place = scratch();
    const store = await stored(place);
    harm['a copy takes its place']?.(place);
    await store.checkOpenFiles();
    expect(await store.rewriteLost('test', 1)).toBe(false);
    expect(store.damaged()).toHaveLength(1);
    await store.drop('test', 1);
  });
});

test('nothing that a store does by itself is reported as damage', async () => {
  await using place = scratch();
  const limits = { openPartitionFilesMax: 2, memtableRowsMax: 1, walBytesMax: 20_000 };
  const store = await stored(place, { ...limits, logSegmentBytesMax: 40_000_000 });
  const found: unknown[] = [];
  for (let round = 1; round <= 40; round += 1) {
    const value = 'v'.repeat(3_000);
    const writes = [0, 1, 2].map((partition) => write(`k${round}`, value, round, partition));
    const work = Promise.all([
      store.write(writes),
      round % 8 === 0 ? store.scrub('test', round % 3) : null,
    ]);
    found.push(...(await store.checkOpenFiles()).lost);
    await work;
    const { lost, log } = await store.checkOpenFiles();
    found.push(...lost, ...(log === null ? [] : [log]));
  }
  expect(found).toEqual([]);
  expect(store.damaged()).toEqual([]);
});

test('a closed file that was replaced by another file is not opened', async () => {
  await using place = scratch();
  const store = await stored(place, { openPartitionFilesMax: 1 });
  // Only the file that was used last is open.
  const file = dataOf(place, 0);
  copyFileSync(file, join(place.directory, 'copy'));
  renameSync(join(place.directory, 'copy'), file);
  expect(() => textOf(store, 'key', 0)).toThrow('another file');
  await store.drop('test', 0);
});

async function replaced(place: Scratch): Promise<Store> {
  const store = await stored(place, { openPartitionFilesMax: 1 });
  expect(textOf(store, 'key', 0)).toBe('a value');
  copy(dataOf(place, 0), join(place.directory, 'copy'));
  await store.write([write('acknowledged', 'yes', 2, 0)]);
  renameSync(join(place.directory, 'copy'), dataOf(place, 0));
  return store;
}

test('the replacement of an open file is detected when the file is closed for room', async () => {
  await using place = scratch();
  const store = await replaced(place);
  expect(textOf(store, 'key', 1)).toBe('a value');
  expect(store.damaged()).toMatchObject([{ keyspace: 'test', partition: 0 }]);
  expect(() => textOf(store, 'acknowledged', 0)).toThrow('another file');
  await using image = scratch(place.directory);
  expect(textOf(await image.open(), 'acknowledged', 0)).toBe('yes');
  await store.drop('test', 0);
});

test('the replacement of an open file is still detected after a clean restart', async () => {
  await using place = scratch();
  await (await replaced(place)).close();
  expect(logFiles(place.directory)).not.toEqual([]);
  const store = await place.open();
  expect(store.damaged()).toMatchObject([{ keyspace: 'test', partition: 0 }]);
  expect(() => textOf(store, 'key', 0)).toThrow('was replaced while a server used it');
  await store.drop('test', 0);
  expect(textOf(store, 'key', 1)).toBe('a value');
});

test('a deleted file stays open until it is rewritten', async () => {
  await using place = scratch();
  const store = await stored(place, { openPartitionFilesMax: 2 });
  expect(textOf(store, 'first', 0)).toBe('a file');
  rmSync(homeOf(place, 0), { recursive: true });
  expect((await store.checkOpenFiles()).lost).toMatchObject([{ partition: 0 }]);
  for (const partition of [1, 2, 1, 2]) textOf(store, 'first', partition);
  expect(await store.rewriteLost('test', 0)).toBe(true);
  expect(textOf(store, 'key', 0)).toBe('a value');
});

describe('the log', () => {
  for (const name of ['deleted', 'deleted with its folder', 'cut', 'replaced']) {
    test(`a new segment follows a log that was ${name}; a later crash loses nothing`, async () => {
      await using place = scratch();
      const store = await stored(place);
      const file = logFiles(place.directory).at(-1) ?? '';
      if (name === 'cut') truncateSync(file, 20);
      else if (name === 'deleted with its folder') rmSync(dirname(file), { recursive: true });
      else rmSync(file);
      if (name === 'replaced') writeFileSync(file, Buffer.alloc(4_000_000));
      const { log, lost } = await store.checkOpenFiles();
      expect(log).toMatchObject({ code: 'LOG_DAMAGED' });
      expect(lost).toEqual([]);
      await store.write([write('later', 'another', 2)]);
      expect((await store.checkOpenFiles()).log).toBeNull();
      await expect.poll(() => logFiles(place.directory).includes(file)).toBe(false);
      // What a start after a kill finds: everything, as soon as the files are synced.
      const found = async (): Promise<unknown[]> => {
        await using image = scratch(place.directory);
        const reopened = await image.open();
        const texts = [0, 1, 2].map((partition) => textOf(reopened, 'key', partition));
        return [...texts, textOf(reopened, 'later')];
      };
      await expect.poll(found).toEqual(['a value', 'a value', 'a value', 'another']);
      await store.close();
    });
  }

  for (const [name, keptBytes] of Object.entries({ 'to nothing': 0, 'after its header': 40 })) {
    test(`a crash loses nothing when the log was cut ${name} and written to since`, async () => {
      await using place = scratch();
      const store = await stored(place);
      truncateSync(logFiles(place.directory).at(-1) ?? '', keptBytes);
      await store.write([write('later', 'another', 2)]);
      expect((await store.checkOpenFiles()).log).toMatchObject({ code: 'LOG_DAMAGED' });
      await store.write([write('last', 'a third', 3)]);
      expect((await store.checkOpenFiles()).log).toBeNull();
      const found = async (): Promise<unknown[]> => {
        await using image = scratch(place.directory);
        const reopened = await image.open();
        return ['key', 'later', 'last'].map((key) => textOf(reopened, key));
      };
      await expect.poll(found).toEqual(['a value', 'another', 'a third']);
    });
  }

  test('the truncation of a finished segment is detected', async () => {
    await using place = scratch();
    const limits = { logSegmentBytesMax: 100_000, logSegmentsBehindMax: 8 };
    const store = await stored(place, limits);
    const [first = ''] = logFiles(place.directory);
    const value = 'v'.repeat(60_000);
    for (let ms = 2; ms < 6; ms += 1) await store.write([write('key', value, ms)]);
    expect(logFiles(place.directory).length).toBeGreaterThan(1);
    expect((await store.checkOpenFiles()).log).toBeNull();
    truncateSync(first, 0);
    expect((await store.checkOpenFiles()).log).toMatchObject({ code: 'LOG_DAMAGED' });
    await store.write([write('later', 'another', 9)]);
    expect((await store.checkOpenFiles()).log).toBeNull();
  });

  test('a store that cannot begin a new log segment fails', async () => {
    // Not `await using`: the close of a failed store rejects, which would fail the test.
    const place = scratch();
    const store = await stored(place);
    rmSync(join(place.directory, 'log'), { recursive: true });
    symlinkSync('nowhere', join(place.directory, 'log'));
    expect((await store.checkOpenFiles()).log).toMatchObject({ code: 'LOG_DAMAGED' });
    await expect(store.write([write('later', 'another', 2)])).rejects.toMatchObject({
      code: 'STORE_FAILED',
    });
    await expect(store.close()).rejects.toMatchObject({ code: 'STORE_FAILED' });
    rmSync(join(place.directory, 'log'));
    await using image = scratch(place.directory);
    image.damaged();
    rmSync(place.directory, { recursive: true });
    await expect(image.open()).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
  });
});
