// Tests the trash: what is deleted first, and that a restored file is `filling` and has a new life.
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import module from 'node:module';
import { join } from 'node:path';
import { codeOf } from '@ringwright/base/thrown';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';
import type { Store } from '../store.ts';
import { chooseTrash, parseTrashName, type TrashItem } from './trash.ts';

function item(atMs: number, bytes: number): TrashItem {
  return { name: String(atMs), atMs, keyspace: 'k', partition: 0, incarnation: 'i', bytes };
}

/** Makes the next sync of a directory fail, as when no descriptor is left. */
function failNextSyncOf(directory: string): void {
  const { open } = fs;
  const restore = (): void => {
    fs.open = open;
    module.syncBuiltinESMExports();
  };
  onTestFinished(restore);
  fs.open = async (...args) => {
    if (args[0] !== directory) return open(...args);
    restore();
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  };
  module.syncBuiltinESMExports();
}

describe('the choice of what to delete', () => {
  const items = [item(1, 10), item(2, 20), item(3, 30)];
  test.each([
    ['nothing within the limits', { beforeMs: 1, bytesMax: 60, bytesNeeded: 0 }, []],
    ['what is older than allowed', { beforeMs: 3, bytesMax: 60, bytesNeeded: 0 }, [1, 2]],
    ['the oldest, until the rest fits', { beforeMs: 0, bytesMax: 45, bytesNeeded: 0 }, [1, 2]],
    ['as much as is needed', { beforeMs: 0, bytesMax: 60, bytesNeeded: 10 }, [1]],
    [
      'all, when more is needed than there is',
      { beforeMs: 0, bytesMax: 60, bytesNeeded: 99 },
      [1, 2, 3],
    ],
  ])('the trash deletes %s', (...[, limits, wanted]) => {
    expect(chooseTrash(items, limits).map(({ atMs }) => atMs)).toEqual(wanted);
  });

  test('the remaining items keep every limit, and deleting one fewer would break one', () => {
    const any = fc
      .array(fc.nat(50))
      .map((sizes) => sizes.map((bytes, index) => item(index, bytes)));
    const limits = fc.record({
      beforeMs: fc.nat(9),
      bytesMax: fc.nat(300),
      bytesNeeded: fc.nat(99),
    });
    fc.assert(
      fc.property(any, limits, (all, { beforeMs, bytesMax, bytesNeeded }) => {
        const goes = chooseTrash(all, { beforeMs, bytesMax, bytesNeeded });
        expect(goes).toEqual(all.slice(0, goes.length));
        const sum = (some: readonly TrashItem[]) =>
          some.reduce((total, { bytes }) => total + bytes, 0);
        const fits = (count: number): boolean => {
          const [freed, stay] = [sum(all.slice(0, count)), all.slice(count)];
          const old = stay.some(({ atMs }) => atMs < beforeMs);
          return !old && sum(stay) <= bytesMax && (freed >= bytesNeeded || stay.length === 0);
        };
        expect(fits(goes.length)).toBe(true);
        for (let count = 0; count < goes.length; count += 1) {
          const empty = goes.slice(count).every(({ bytes }) => bytes === 0);
          expect(fits(count) && !empty).toBe(false);
        }
      }),
    );
  });
});

test('names that no drop can have made are not recognized', () => {
  for (const name of [
    '',
    '1',
    '1.k.0',
    '1.k.0.i.j',
    'x.k.0.i',
    '1.K.0.i',
    '1.k.-1.i',
    '1.k.0.../i',
  ]) {
    expect(parseTrashName(name), name).toBeNull();
  }
});

async function dropped(store: Store): Promise<string> {
  await store.create('test', 0, 'ready');
  await store.write([write('a', 'x', 1), write('b', null, 2)]);
  await store.drop('test', 0, 1_000);
  const [found] = await store.trash.list();
  expect(found).toMatchObject({ keyspace: 'test', partition: 0, atMs: 1_000 });
  expect(found?.bytes).toBeGreaterThan(4_096);
  return found?.name ?? '';
}

test('a folder whose file was deleted is not listed, and a trim removes it', async () => {
  await using place = scratch();
  const store = await place.open();
  const name = await dropped(store);
  const { incarnation } = parseTrashName(name)!;
  rmSync(join(place.directory, 'trash', name, incarnation, 'data.db'));
  expect(await store.trash.list()).toEqual([]);
  const gone = await store.trash.trim({ beforeMs: 2_000, bytesMax: 1e12 });
  expect(gone.map((item) => item.name)).toEqual([name]);
});

test('a folder that is deleted while the trash is listed is left out', async () => {
  await using place = scratch();
  const store = await place.open();
  const name = await dropped(store);
  // Its name is read, but leads nowhere.
  symlinkSync('deleted', join(place.directory, 'trash', '1.test.7.deleted'));
  expect((await store.trash.list()).map((one) => one.name)).toEqual([name]);
});

test('a file that was dropped in place of a folder does not keep others in the trash', async () => {
  await using place = scratch();
  const store = await place.open();
  const name = await dropped(store);
  const file = join(place.directory, 'trash', '999.test.7.unknown');
  writeFileSync(file, 'a few bytes');
  expect((await store.trash.list()).map((one) => one.name)).toEqual([name]);
  const gone = await store.trash.trim({ beforeMs: 2_000, bytesMax: 1e12 });
  expect(gone).toHaveLength(2);
  expect(existsSync(file)).toBe(false);
});

describe('a restore from the trash', () => {
  test('a restored file has its records, is filling and has a new incarnation', async () => {
    await using place = scratch();
    const store = await place.openReady();
    const before = store.info('test', 0);
    await store.write([write('a', 'x', 1), write('b', null, 2)]);
    store.peers.confirm({ keyspace: 'test', partition: 0 }, 'peer', 2);
    await store.drop('test', 0, 1_000);
    const [found] = await store.trash.list();
    const info = await store.trash.restore(found?.name ?? '');
    expect(info).toMatchObject({ state: 'filling', rows: 1, tombstones: 1, seq: 2 });
    expect(info.incarnation).not.toBe(before?.incarnation);
    expect(
      store.peers.confirmed({ keyspace: 'test', partition: 0 }, 'peer'),
      'peers have confirmed another incarnation',
    ).toBe(0);
    expect(textOf(store, 'a')).toBe('x');
    expect(await store.trash.list()).toEqual([]);
    await store.write([write('c', 'y', 3)]);
    await store.close();
    await using image = place.image();
    expect(textOf(await image.open(), 'c')).toBe('y');
  });

  test('a write to a restored file survives a kill', async () => {
    await using place = scratch();
    const store = await place.open();
    const name = await dropped(store);
    await store.trash.restore(name);
    await store.write([write('a', 'newer', 9)]);
    await using image = place.image();
    expect(textOf(await image.open(), 'a')).toBe('newer');
  });

  test('a file is not restored where another one exists, and not twice', async () => {
    await using place = scratch();
    const store = await place.open();
    const name = await dropped(store);
    await store.create('test', 0, 'ready');
    await expect(store.trash.restore(name)).rejects.toMatchObject({ code: 'PARTITION_EXISTS' });
    await store.drop('test', 0, 2_000);
    await store.trash.restore(name);
    await store.drop('test', 0, 3_000);
    await expect(store.trash.restore(name)).rejects.toMatchObject({ code: 'TRASH_UNKNOWN' });
  });

  test.each(['', '..', '../partitions/test', '1000.test.0.x', '1000.test.0...'])(
    'a restore of the name %j is refused',
    async (name) => {
      await using place = scratch();
      const store = await place.open();
      await dropped(store);
      await expect(store.trash.restore(name)).rejects.toMatchObject({ code: 'TRASH_UNKNOWN' });
    },
  );

  test('a restore that cannot be synced fails the store; the next start has the file', async () => {
    // Not `await using`: the close of a failed store rejects, which would fail the test.
    const place = scratch();
    const store = await place.open();
    const name = await dropped(store);
    failNextSyncOf(join(place.directory, 'partitions/test'));
    await expect(store.trash.restore(name)).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await expect(store.create('test', 0, 'ready')).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await expect(store.close()).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await using image = scratch(place.directory);
    rmSync(place.directory, { recursive: true });
    const again = await image.open();
    expect(again.info('test', 0)).toMatchObject({ state: 'filling', rows: 1 });
  });

  test('a restore beside a trim of the same file ends as if one of them came first', async () => {
    await using place = scratch();
    const store = await place.open();
    const name = await dropped(store);
    const trim = store.trash.trim({ beforeMs: 2_000, bytesMax: 1e12 });
    const restored = await store.trash.restore(name).catch(codeOf);
    const wasTrimmed = restored === 'TRASH_UNKNOWN';
    expect(await trim).toHaveLength(wasTrimmed ? 1 : 0);
    expect(store.info('test', 0)).toEqual(wasTrimmed ? null : restored);
    expect(await store.trash.list()).toEqual([]);
  });

  test('a damaged file is not restored and stays in the trash', async () => {
    await using place = scratch();
    const store = await place.open();
    const name = await dropped(store);
    const folder = join(place.directory, 'trash', name);
    const [incarnation = ''] = readdirSync(folder).filter((one) => one !== 'CURRENT');
    const file = join(folder, incarnation, 'data.db');
    const bytes = readFileSync(file);
    bytes.write('damaged', bytes.indexOf('highest'), 'latin1');
    writeFileSync(file, bytes);
    await expect(store.trash.restore(name)).rejects.toMatchObject({ code: 'PARTITION_DAMAGED' });
    expect(store.info('test', 0)).toBeNull();
    expect(existsSync(file)).toBe(true);
    expect(readdirSync(join(place.directory, 'staging'))).toEqual([]);
  });
});
