// Tests the room on disk for copies: a copy without room is refused before its first byte, with
// both sizes, and the trash is emptied only where that makes enough room.
import { readdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch, write } from '../test/support/scratch-store.ts';

test('a copy to a full disk is refused with both sizes, and the trash is kept', async () => {
  await using place = scratch();
  await using other = scratch();
  const first = await place.open();
  const from = await other.open();
  for (const store of [first, from]) {
    await store.create('test', 0, 'ready');
    await store.write([write('a', 'x', 1)]);
  }
  await first.create('test', 1, 'ready');
  await first.write([write('b', 'y', 1, 1)]);
  await first.drop('test', 1, 1_000);
  await first.close();
  const { bavail, bsize } = await statfs(place.directory);
  // More than is free, by more than other work on this disk may free meanwhile.
  const store = await place.open({ diskReserveBytes: 2 * bavail * bsize });
  await using snapshot = await from.snapshot('test', 0);
  const { manifest } = snapshot;
  const full = { code: 'DISK_FULL', message: expect.stringMatching(/\d+ bytes are free, \d+ are/) };
  await expect(store.receiveCopy('test', 0, manifest)).rejects.toMatchObject(full);
  await expect(store.copies.requireRoom(manifest.bytes)).rejects.toMatchObject(full);
  expect(readdirSync(join(place.directory, 'staging'))).toEqual([]);
  expect(await store.trash.list()).toHaveLength(1);
  expect(
    await store.trash.trim({ beforeMs: 0, bytesMax: 1e12 }),
    'writes need the room',
  ).toHaveLength(1);
});
