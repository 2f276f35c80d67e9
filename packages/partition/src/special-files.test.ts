// A pipe or a directory in place of a file of the data directory: the start ends and names it, or
// goes on without the one partition. It never waits.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logFiles, type Scratch, scratch, textOf, write } from '../test/support/scratch-store.ts';

const kinds = ['a pipe (FIFO)', 'a directory'] as const;
type Kind = (typeof kinds)[number];

function replaceBy(kind: Kind, path: string): void {
  rmSync(path, { force: true });
  if (kind === 'a directory') mkdirSync(path);
  else execFileSync('mkfifo', [path]);
}

/** What a SIGKILL leaves of a store with two records in one partition: the log has both. */
async function killed(place: Scratch): Promise<Scratch> {
  const store = await place.openReady();
  await store.write([write('a', 'first', 1)]);
  await store.write([write('b', 'second', 2)]);
  const image = place.image();
  image.damaged();
  return image;
}

test.each(kinds)('%s in place of a segment of the log is named', async (kind) => {
  await using place = scratch();
  const image = await killed(place);
  const [segment = ''] = logFiles(image.directory);
  // A second segment: the server would not take a log of one for whole.
  execFileSync('cp', [segment, join(image.directory, 'log', '0000000000000002.log')]);
  replaceBy(kind, segment);
  await expect(image.open()).rejects.toMatchObject({
    code: 'DISK_FAILED',
    message: `${segment} is ${kind}, not a regular file`,
  });
});

test.each(kinds)('%s in place of the list of empty partitions is named', async (kind) => {
  await using place = scratch();
  const image = await killed(place);
  const file = join(image.directory, 'empty-partitions');
  replaceBy(kind, file);
  await expect(image.open()).rejects.toMatchObject({
    code: 'DISK_FAILED',
    message: `${file} is ${kind}, not a regular file`,
  });
});

test.each(kinds)('%s in place of CURRENT is damage of its partition', async (kind) => {
  await using place = scratch();
  place.damaged();
  const store = await place.openReady();
  await store.create('test', 1, 'ready');
  await store.write([0, 1].map((partition) => write('a', 'first', 1, partition)));
  await store.close();
  const current = join(place.directory, 'partitions/test/0/CURRENT');
  replaceBy(kind, current);
  const again = await place.open();
  expect(again.damaged()).toMatchObject([
    { partition: 0, error: { message: `${current} names no incarnation` } },
  ]);
  expect(textOf(again, 'a', 1)).toBe('first');
});

test.each(kinds)('%s in place of checkpoints is ignored', async (kind) => {
  await using place = scratch();
  const store = await place.openReady();
  await store.write([write('a', 'first', 1)]);
  await store.close();
  replaceBy(kind, join(place.directory, 'checkpoints'));
  expect(textOf(await place.open(), 'a')).toBe('first');
});
