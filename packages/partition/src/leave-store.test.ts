// Tests a store that is left without being closed: what its files lack is in the log, and the next
// start restores it.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { cutWals, logFiles, scratch, textOf } from '../test/support/scratch-store.ts';

const program = fileURLToPath(new URL('../test/support/leave-once.ts', import.meta.url));
const partitions = 24;

/** Writes to all partitions and leaves within `withinMs`. Returns whether the files have everything. */
function leave(directory: string, text: string, withinMs: number): boolean {
  const args = [program, directory, String(partitions), text, String(withinMs)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) === true;
}

test.each([
  ['in time', 60_000, true],
  ['without time', -1, false],
])('a store that is left %s restores all rows after a power loss', async (_, withinMs, isWhole) => {
  await using place = scratch();
  expect(leave(place.directory, 'first', withinMs)).toBe(isWhole);
  expect(logFiles(place.directory).length > 0).toBe(!isWhole);
  expect(leave(place.directory, 'second', withinMs)).toBe(isWhole);
  cutWals(place.directory, () => 0);
  const store = await place.open();
  const texts = Array.from({ length: partitions }, (_unused, partition) => [
    textOf(store, 'first', partition),
    textOf(store, 'second', partition),
    store.info('test', partition)?.state,
  ]);
  expect(texts).toEqual(texts.map(() => ['first', 'second', 'lost']));
});
