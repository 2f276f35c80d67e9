// Breaks long values in a partition file of a closed store, so that nobody can read past their
// first page.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageBytes } from '../../src/file/schema.ts';

/**
 * Breaks the chains of pages of all values in partition 0 that repeat `text`, one character.
 * Returns the number of pages.
 */
export function breakChains(directory: string, text: string): number {
  const home = join(directory, 'partitions/test/0');
  const [incarnation = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  const file = join(home, incarnation, 'data.db');
  const whole = readFileSync(file);
  const full = Buffer.alloc(pageBytes - 4, text);
  let broken = 0;
  for (let at = 0; at < whole.length; at += pageBytes) {
    if (!whole.subarray(at + 4, at + pageBytes).equals(full)) continue;
    // There is no such page.
    whole.writeUInt32BE(0xffff_fff0, at);
    broken += 1;
  }
  writeFileSync(file, whole);
  return broken;
}
