// Tests hash intervals against a slow and simple reading of their definition.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { equalEnd, parsePosition, positionText, randomEnds } from './hash-ends.ts';
import { hashPositions, intervalOfHash, keyHashOf } from './hash-intervals.ts';
import { murmur3 } from './murmur3.ts';
import { partitionerOf } from './partition-of-key.ts';
import type { HashIntervalsPartitioner } from './partitioner.ts';

type Intervals = Pick<HashIntervalsPartitioner, 'partitions' | 'ends' | 'ids'>;

function intervals(from: Intervals): HashIntervalsPartitioner {
  return { kind: 'hash-intervals', hash: 'murmur3', ...from };
}

/** Walks all ends to the first one at or after the hash, or else takes the first of all. */
function slowInterval({ ends = [], ids }: Intervals, hash: number): number {
  const found = ends.findIndex((end) => end >= hash);
  const index = found < 0 ? 0 : found;
  return ids?.[index] ?? index;
}

const position = fc.integer({ min: 0, max: hashPositions - 1 });
const someEnds = fc.oneof(
  fc.uniqueArray(position, { minLength: 1, maxLength: 50 }),
  // Ends close to each other, so that many share their top bits.
  fc
    .tuple(position, fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1 }))
    .map(([base, near]) => near.map((offset) => (base + offset) % hashPositions)),
);
const ascending = someEnds.map((ends) => [...ends].sort((a, b) => a - b));

test('a hash is in the interval of the first end at or after it, and the circle wraps', () => {
  fc.assert(
    fc.property(ascending, fc.array(position), fc.boolean(), (ends, hashes, turned) => {
      const ids = turned ? ends.map((_, index) => ends.length - 1 - index) : undefined;
      const from = { partitions: ends.length, ends, ...(ids && { ids }) };
      const find = intervalOfHash(intervals(from));
      const edges = ends.flatMap((end) => [end - 1, end, end + 1]);
      for (const hash of [...hashes, ...edges, 0, hashPositions - 1]) {
        const inside = (hash + hashPositions) % hashPositions;
        expect(find(inside)).toBe(slowInterval(from, inside));
      }
    }),
  );
});

test('equal intervals are found without a list, for every count', () => {
  const slowEnd = (index: number, count: number): number =>
    Number((BigInt(index) * 2n ** 32n) / BigInt(count));
  const count = fc.oneof(fc.integer({ min: 1, max: 2 ** 24 }), fc.integer({ min: 1, max: 40 }));
  fc.assert(
    fc.property(count, position, fc.nat(), (partitions, hash, nth) => {
      const index = nth % partitions;
      const end = equalEnd(index, partitions);
      expect(end).toBe(slowEnd(index, partitions));
      const find = intervalOfHash(intervals({ partitions }));
      expect(find(end)).toBe(index);
      expect(find((end + 1) % hashPositions)).toBe((index + 1) % partitions);
      const wanted = find(hash);
      const before = slowEnd((wanted + partitions - 1) % partitions, partitions);
      const isInside = wanted === 0 ? hash === 0 || hash > before : hash > before;
      expect(isInside && (wanted === 0 || hash <= slowEnd(wanted, partitions))).toBe(true);
    }),
  );
});

test('random ends are distinct, ascending, and the same for the same seed', () => {
  const ends = randomEnds(1_000, 7);
  expect(new Set(ends).size).toBe(1_000);
  expect(ends).toEqual([...ends].sort((a, b) => a - b));
  expect(randomEnds(1_000, 7)).toEqual(ends);
  expect(randomEnds(1_000, 8)).not.toEqual(ends);
});

test('the hashes and partitions of worked examples never change', () => {
  const key = Buffer.from('The quick brown fox jumps over the lazy dog');
  const hashOf = (hash: HashIntervalsPartitioner['hash'], hashKey?: string) =>
    keyHashOf({ hash, ...(hashKey && { hashKey }) })(key);
  expect(hashOf('jenkins')).toBe(0x519e91f5);
  expect(hashOf('md5')).toBe(0x9e107d9d);
  expect(hashOf('murmur3')).toBe(murmur3(key, 0));
  const quarters = intervals({ partitions: 4, ends: [0, 2 ** 30, 2 ** 31, 3 * 2 ** 30] });
  const find = intervalOfHash(quarters);
  expect([0, 1, 2 ** 30, 2 ** 30 + 1, parsePosition('.73'), 2 ** 32 - 1].map(find)).toEqual([
    0, 1, 1, 2, 3, 0,
  ]);
  expect(partitionerOf({ ...quarters, hash: 'jenkins' })(key)).toBe(2);
});

test('only the part of a key before the delimiter, or in braces, is hashed', () => {
  const md5 = (text: string): number => createHash('md5').update(text).digest().readUInt32BE(0);
  const hashed = (hashKey: string, key: string): number =>
    keyHashOf({ hash: 'md5', hashKey })(Buffer.from(key));
  for (const [hashKey, key, part] of [
    ['/', 'acme/orders/1', 'acme'],
    ['/', 'acme', 'acme'],
    ['/', '/orders', '/orders'],
    ['::', 'acme:x::1', 'acme:x'],
    ['ß', 'maßig', 'ma'],
    ['{tag}', 'user:{7}:name', '7'],
    ['{tag}', 'a{}b', 'a{}b'],
    ['{tag}', 'a{b', 'a{b'],
    ['{tag}', '}a{b}{c}', 'b'],
    ['{tag}', '{{a}}', '{a'],
  ] as const) {
    expect(hashed(hashKey, key), `${hashKey} in ${key}`).toBe(md5(part));
  }
});

test('a position is parsed as typed, and a printed position is parsed back', () => {
  expect(['0', '0.0', '.25', '0.85', '0xc0000000'].map(parsePosition)).toEqual([
    0,
    0,
    2 ** 30,
    3_650_722_201,
    0xc0000000,
  ]);
  expect([0, 2 ** 30, 3_650_722_201].map(positionText)).toEqual(['0', '.25', '.85']);
  fc.assert(fc.property(position, (one) => parsePosition(positionText(one)) === one));
  for (const wrong of ['1', '-.5', '', '.', 'x', '1e-3', '0x100000000', 'NaN']) {
    expect(() => parsePosition(wrong), wrong).toThrow('not a position on the circle');
  }
});
