// The order of a scan against all keys sorted, for ranges whose ids are in any order.
import { boundsFrom, withinPrefix } from '@ringwright/base/key-bounds';
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { partitionerOf } from './partition-of-key.ts';
import type { Partitioner } from './partitioner.ts';
import { firstPartition, nextPartition, placeAfter, type Scanned } from './scan-order.ts';

const letters = ['a', 'b', 'c', 'd'];
const keys = letters.flatMap((one) => [one, ...letters.map((two) => `${one}${two}`)]).sort();
const random = seededRandom(11);
const some = (): string => (random.below(4) === 0 ? '' : (keys[random.below(keys.length)] ?? ''));

function someRanges(): Partitioner {
  const starts = keys.filter(() => random.below(5) === 0);
  const partitions = starts.length + 3; // some ids are retired
  const ids: number[] = [];
  while (ids.length <= starts.length) {
    const id = random.below(partitions);
    if (!ids.includes(id)) ids.push(id);
  }
  return { kind: 'ranges', partitions, starts, ids };
}

function someScan(partitioner: Partitioner): Scanned {
  const prefix = Buffer.from(some());
  const to = random.below(3) === 0 ? null : Buffer.from(some());
  const bounds = { from: Buffer.from(some()), to, reverse: random.below(2) === 0 };
  const partitionOf = partitionerOf(partitioner);
  return { partitioner, partitionOf, bounds: withinPrefix(bounds, prefix), prefix };
}

function keysOf({ partitionOf, bounds }: Scanned, partition: number | null): string[] {
  const { from, to, reverse } = bounds;
  const found = keys.filter((key) => {
    const isIn = key >= from.toString() && (to === null || key < Buffer.from(to).toString());
    return isIn && (partition === null || partitionOf(Buffer.from(key)) === partition);
  });
  return reverse ? found.reverse() : found;
}

test('ranges give all keys of an interval in order, also from every border between two', () => {
  for (let turn = 0; turn < 2_000; turn += 1) {
    const scanned = someScan(someRanges());
    const given: string[] = [];
    let partition = firstPartition(scanned);
    while (partition !== null) {
      given.push(...keysOf(scanned, partition));
      const place = placeAfter(scanned, partition);
      partition = nextPartition(scanned, partition);
      expect(place?.partition ?? null).toBe(partition);
      if (place === null) continue;
      const bounds = boundsFrom(scanned.bounds, place.at);
      expect(firstPartition({ ...scanned, bounds })).toBe(partition);
    }
    expect(given).toEqual(keysOf(scanned, null));
  }
});

test('of keys with one tag a scan reads one partition', () => {
  const partitioner: Partitioner = {
    kind: 'hash-intervals',
    hash: 'jenkins',
    hashKey: '{tag}',
    partitions: 32,
  };
  const partitionOf = partitionerOf(partitioner);
  const read = (prefix: string): number => {
    const bounds = { from: Buffer.from(prefix), to: null, reverse: false };
    const scanned = { partitioner, partitionOf, bounds, prefix: Buffer.from(prefix) };
    let count = 0;
    for (let at = firstPartition(scanned); at !== null; at = nextPartition(scanned, at)) count += 1;
    return count;
  };
  expect([read('{ada}:'), read('{ada'), read('')]).toEqual([1, 32, 32]);
});
