// Tests that damage in a partition file is detected, and that it affects no other partition.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';
import type { KeyPage } from '../file/key-page.ts';
import { auditFile } from './audit-partition-file.ts';

const SEED = 7;
const FLIPS = 300;

const place0 = { keyspace: 'test', partition: 0 };
const everything = {
  ...{ from: Buffer.alloc(0), to: null, limit: 1_000 },
  ...{ bytesMax: 1_000_000, nowMs: 0 },
};

/** Expects that each record in the page is correct. Returns whether all are there. */
function isTrue({ rows }: KeyPage, count: number): boolean {
  for (const { key, value } of rows) expect(value?.toString()).toBe(`value of ${key.toString()}`);
  return rows.length === count;
}

/** The data file of a partition in a closed store. */
function dataFile(directory: string, partition: number): string {
  const home = join(directory, `partitions/test/${partition}`);
  const [incarnation = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  return join(home, incarnation, 'data.db');
}

test(`the audit finds every flipped bit that a read would notice (seed ${SEED})`, async () => {
  await using place = scratch();
  place.damaged();
  const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`);
  const filled = await place.openReady();
  await filled.create('test', 1, 'ready');
  await filled.write(keys.map((key, i) => write(key, `value of ${key}`, i + 1)));
  await filled.write([write('other', 'fine', 1, 1)]);
  await filled.close();
  const file = dataFile(place.directory, 0);
  const whole = readFileSync(file);
  const random = seededRandom(SEED);
  let noticed = 0;
  for (let flip = 0; flip < FLIPS; flip += 1) {
    const at = random.below(whole.length);
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << random.below(8));
    writeFileSync(file, damaged);
    const findings = auditFile(file).findings;
    writeFileSync(file, damaged);
    const store = await place.open();
    const attempt = (read: () => boolean): string => {
      try {
        return read() ? 'right' : 'missing';
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'none';
        expect(
          ['PARTITION_DAMAGED', 'RECORD_DAMAGED'],
          `flip at ${at}: ${String(error)}`,
        ).toContain(code);
        return code;
      }
    };
    const answers = keys.map((key) => attempt(() => textOf(store, key) === `value of ${key}`));
    for (const reverse of [false, true]) {
      const bounds = { ...everything, reverse };
      answers.push(attempt(() => store.pages.sum(place0, bounds).count === keys.length));
      answers.push(attempt(() => isTrue(store.pages.read(place0, bounds), keys.length)));
    }
    if (answers.some((answer) => answer !== 'right')) {
      expect(findings, `flip at ${at}`).not.toEqual([]);
      noticed += 1;
    }
    expect(textOf(store, 'other', 1)).toBe('fine');
    await store.close();
    writeFileSync(file, whole);
  }
  expect(noticed).toBeGreaterThan(20);
}, 120_000);

test('a file in the place of another partition is refused and can be dropped', async () => {
  await using place = scratch();
  const filled = await place.openReady();
  await filled.create('test', 1, 'ready');
  await filled.write([write('a', 'x', 1), write('b', 'y', 1, 1)]);
  await filled.close();
  writeFileSync(dataFile(place.directory, 1), readFileSync(dataFile(place.directory, 0)));
  const store = await place.open();
  expect(store.damaged()).toMatchObject([{ partition: 1, error: { code: 'PARTITION_DAMAGED' } }]);
  expect(() => store.read('test', 1, Buffer.from('a'))).toThrow('says it is');
  expect(await store.write([write('b', 'y', 1, 1)])).toEqual([{ kind: 'absent' }]);
  expect(textOf(store, 'a')).toBe('x');
  await store.drop('test', 1);
  await store.create('test', 1, 'filling');
  expect(await store.write([write('b', 'y', 1, 1)])).toEqual([{ kind: 'applied' }]);
});
