// Somebody puts an older copy of a partition's folder in place of the present one while no server
// runs: the writes that it lacks are no longer in the log.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logFiles, type Scratch, scratch, textOf, write } from '../test/support/scratch-store.ts';

const folderOf = ({ directory }: Scratch): string => join(directory, 'partitions/test/0');
const savedOf = ({ directory }: Scratch): string => join(directory, 'saved');
const checkpointsOf = ({ directory }: Scratch): string => join(directory, 'checkpoints');

/** Opens the store, creates partitions 0 and 1 if needed, and writes the key to both. */
async function writeAndClose(place: Scratch, key: string): Promise<void> {
  const store = await place.open();
  for (const partition of [0, 1]) {
    if (store.info('test', partition) === null) await store.create('test', partition, 'ready');
  }
  await store.write([0, 1].map((partition) => write(key, key, 1, partition)));
  await store.close();
}

/** Two writes to partition 0, and its folder between them saved. */
async function twoWrites(): Promise<Scratch> {
  const place = scratch();
  await writeAndClose(place, 'first');
  cpSync(folderOf(place), savedOf(place), { recursive: true });
  await writeAndClose(place, 'second');
  return place;
}

function putBack(place: Scratch): void {
  rmSync(folderOf(place), { recursive: true });
  cpSync(savedOf(place), folderOf(place), { recursive: true });
}

test('an older copy is damage of its partition, at every start until it is dropped', async () => {
  await using place = await twoWrites();
  putBack(place);
  for (const start of ['first', 'second']) {
    const store = await place.open();
    const [damaged, ...others] = store.damaged();
    expect(damaged, start).toMatchObject({
      partition: 0,
      error: { code: 'PARTITION_DAMAGED', details: { seq: 1, synced: 2 } },
    });
    expect(others).toEqual([]);
    expect(() => textOf(store, 'first')).toThrow('is an older copy: it has 1 of at least 2 writes');
    expect(textOf(store, 'second', 1)).toBe('second');
    await store.close();
  }
  const store = await place.open();
  await store.drop('test', 0);
  await store.create('test', 0, 'lost');
  await store.write([write('third', 'third', 1)]);
  await store.close();
  expect((await place.open()).damaged()).toEqual([]);
});

test('an older copy is noticed after a crash too, when the log has lost its segments', async () => {
  await using place = scratch();
  const limits = { logSegmentBytesMax: 64 * 1024, logSegmentsBehindMax: 1 };
  const store = await place.openReady(limits);
  await store.write([write('first', 'first', 1)]);
  const before = place.image();
  const first = logFiles(place.directory)[0]!;
  for (let number = 0; existsSync(first); number += 1) {
    await store.write([write(`key ${number}`, 'x'.repeat(10_000), 1)]);
  }
  const crashed = place.image();
  crashed.damaged();
  rmSync(folderOf(crashed), { recursive: true });
  cpSync(folderOf(before), folderOf(crashed), { recursive: true });
  const [damaged] = (await crashed.open()).damaged();
  expect(damaged).toMatchObject({ error: { code: 'PARTITION_DAMAGED' } });
});

test.each(['a whole directory', 'a directory of an older release', 'a damaged list'])(
  'no file is older in %s',
  async (kind) => {
    await using place = await twoWrites();
    if (kind === 'a whole directory') {
      await using earlier = place.image();
      await writeAndClose(place, 'third');
      expect((await earlier.open()).damaged()).toEqual([]);
      return;
    }
    putBack(place);
    const text = readFileSync(checkpointsOf(place), 'utf8');
    rmSync(checkpointsOf(place));
    if (kind === 'a damaged list')
      writeFileSync(checkpointsOf(place), text.replace(' 2\n', ' 3\n'));
    const store = await place.open();
    expect(store.damaged()).toEqual([]);
    expect(textOf(store, 'first')).toBe('first');
  },
);
