// Tests each fault of intervals once, with both values, and that sound partitioners have no fault.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { intervalFaults } from './interval-faults.ts';
import { intervalsOf } from './intervals-of.ts';
import type { IntervalPartitioner } from './partitioner.ts';

const hashes = { kind: 'hash-intervals', hash: 'md5', partitions: 3, ends: [1, 5, 9] } as const;
const keys = { kind: 'ranges', partitions: 3, starts: ['g', 'n'] } as const;

test.each<[IntervalPartitioner, RegExp]>([
  [{ ...hashes, ends: [1, 9, 5] }, /interval 2 ends at .*, the previous one at .*: out of order/],
  [{ ...hashes, ends: [1, 5, 5] }, /so that it is empty/],
  [{ ...hashes, ends: [1, 5, 2 ** 32] }, /ends at 4294967296, expected .* below 2\^32/],
  [{ ...hashes, ends: [1, 5.5, 9] }, /ends at 5\.5/],
  [{ ...hashes, ends: [1, 5, 7, 9] }, /4 intervals for 3 partitions/],
  [{ ...hashes, hashKey: '' }, /has 0 bytes, expected 1 to 16/],
  [{ ...hashes, hashKey: 'x'.repeat(17) }, /has 17 bytes/],
  [{ ...hashes, ids: [0, 1, 1] }, /interval 2 has id 1, which another one has/],
  [{ ...hashes, ids: [0, 1, 3] }, /interval 2 has id 3, of 3 partitions/],
  [{ ...hashes, ids: [0, 1] }, /2 ids for 3 intervals/],
  [{ kind: 'hash-intervals', hash: 'md5', partitions: 1, ids: [0] }, /ids are listed, but no e/],
  [{ ...hashes, partitions: 0 }, /0 partitions, expected 1 to/],
  [{ ...keys, starts: ['n', 'g'] }, /interval 2 starts at g, the previous one at n: out of order/],
  [{ ...keys, starts: ['g', 'g'] }, /so that it is empty/],
  [{ ...keys, starts: ['', 'g'] }, /interval 1 starts at no key/],
  [{ ...keys, starts: ['g', 'ü'] }, /start ü must be written %C3%BC/],
  [{ ...keys, starts: ['g', 'h'.repeat(1_025)] }, /a start has 1025 bytes/],
])('a fault is found in %j', (partitioner, message) => {
  const [first] = intervalFaults(partitioner);
  expect(first?.message).toMatch(message);
  expect(first).toMatchObject({ found: expect.anything(), wanted: expect.anything() });
});

test('sound partitioners have no fault, and their intervals follow each other without gaps', () => {
  const ends = fc
    .uniqueArray(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 1 })
    .map((list) => [...list].sort((a, b) => a - b));
  fc.assert(
    fc.property(ends, fc.integer({ min: 1, max: 99 }), (list, partitions) => {
      for (const partitioner of [
        { ...hashes, partitions: list.length, ends: list },
        { kind: 'hash-intervals', hash: 'md5', partitions } as const,
      ]) {
        expect([...intervalFaults(partitioner)]).toEqual([]);
        const found = intervalsOf(partitioner);
        expect(found).toHaveLength(partitioner.partitions);
        for (const [index, { start }] of found.entries()) {
          expect(start).toBe(found.at(index - 1)?.end);
        }
      }
    }),
  );
  expect([...intervalFaults(keys)]).toEqual([]);
  const bounds = intervalsOf(keys).map(({ id, start, end }) => [id, start, end]);
  expect(bounds).toEqual([
    [0, null, Buffer.of(0x67)],
    [1, Buffer.of(0x67), Buffer.of(0x6e)],
    [2, Buffer.of(0x6e), null],
  ]);
});
