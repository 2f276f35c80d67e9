// Tests the notes about files that were once complete: each is on disk when its call ends, and
// applies to one file only.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { OnceComplete } from './once-complete.ts';

const held = (partition: number, incarnation = `life ${partition}`) => {
  return { keyspace: 'cities', partition, incarnation };
};

test('a note is found after a restart, and does not apply to the next file', async () => {
  await using folder = await scratchFolder();
  const notes = await OnceComplete.load(folder.path);
  const saved = Array.from({ length: 20 }, async (_, partition) => {
    await notes.note([held(partition)]);
    const again = await OnceComplete.load(folder.path);
    expect(again.has(held(partition)), `partition ${partition}`).toBe(true);
  });
  await Promise.all(saved);
  expect(notes.has(held(3, 'another life'))).toBe(false);
  expect(notes.has({ ...held(3), keyspace: 'towns' })).toBe(false);
  notes.forget('cities', 3);
  expect(notes.has(held(3))).toBe(false);
  await notes.note([held(3, 'another life')]);
  const again = await OnceComplete.load(folder.path);
  expect([3, 4].map((partition) => again.has(held(partition)))).toEqual([false, true]);
});

test('notes about files that are gone are dropped after a restart', async () => {
  await using folder = await scratchFolder();
  const before = await OnceComplete.load(folder.path);
  await before.note([held(1), held(2), held(3)]);
  before.forget('cities', 1); // the process ends before this is saved
  const notes = await OnceComplete.load(folder.path);
  notes.keep([held(2), held(3, 'another life'), held(4)]);
  await notes.note([held(5)]);
  const again = await OnceComplete.load(folder.path);
  const noted = [1, 2, 3, 4, 5].filter((partition) => again.has(held(partition)));
  expect(noted).toEqual([2, 5]);
});

test('a note that could not be written is written by the next call, and only once', async () => {
  await using folder = await scratchFolder();
  const data = join(folder.path, 'data');
  const notes = await OnceComplete.load(data);
  const many = [held(1), held(2)];
  await expect(notes.note(many)).rejects.toThrow(/ENOENT/);
  await mkdir(data);
  await notes.note(many);
  const again = await OnceComplete.load(data);
  expect(many.map((one) => again.has(one))).toEqual([true, true]);
  await rm(data, { recursive: true });
  await notes.note(many); // nothing is left to write
});

test('unreadable notes are refused, not taken for missing ones', async () => {
  await using folder = await scratchFolder();
  await writeFile(join(folder.path, 'once-complete.json'), '{"cities/1":7}');
  const refused = expect.objectContaining({ code: 'DISK_FAILED' });
  await expect(OnceComplete.load(folder.path)).rejects.toThrow(refused);
});
