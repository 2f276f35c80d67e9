// Tests that a page reads nothing of the long values that it does not have: damage there is not
// even noticed.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { valueBytesMax } from '@ringwright/base/limits';
import { expect, test } from 'vitest';
import { scratch, write } from '../../test/support/scratch-store.ts';
import { pageBytes } from './schema.ts';

const place = { keyspace: 'test', partition: 0 };

/** Breaks the chain of pages of each value that consists of this byte. */
function breakChains(file: string, byte: number): number {
  const whole = readFileSync(file);
  const full = Buffer.alloc(pageBytes - 4, byte);
  let broken = 0;
  for (let at = 0; at < whole.length; at += pageBytes) {
    if (!whole.subarray(at + 4, at + pageBytes).equals(full)) continue;
    whole.writeUInt32BE(0xffff_fff0, at);
    broken += 1;
  }
  writeFileSync(file, whole);
  return broken;
}

test.each([false, true])('a page reads no value behind its last (reverse: %s)', async (reverse) => {
  await using folder = scratch();
  folder.damaged();
  const filled = await folder.openReady();
  const values = ['a', 'b', 'c'].map((key) => Buffer.alloc(valueBytesMax, key));
  await filled.write(
    ['a', 'b', 'c'].map((key, at) => ({ ...write(key, '', 9), value: values[at] ?? null })),
  );
  await filled.close();
  const home = join(folder.directory, 'partitions/test/0');
  const [incarnation = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  const [first, others] = reverse ? ['c', 'ab'] : ['a', 'bc'];
  for (const byte of Buffer.from(others)) {
    expect(breakChains(join(home, incarnation, 'data.db'), byte)).toBeGreaterThan(200);
  }
  await using store = await folder.open();
  const bounds = { from: Buffer.alloc(0), to: null, reverse, limit: 1_000, nowMs: 0 };
  const page = store.pages.read(place, { ...bounds, bytesMax: valueBytesMax });
  expect(page.rows.map(({ key }) => key.toString())).toEqual([first]);
  expect(page.next).not.toBeNull();
});
