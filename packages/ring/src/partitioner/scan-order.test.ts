// Tests the order of a scan against all keys in sorted order, for ranges whose ids are in any
// order, and places of a scan across splits and merges.
import { boundsFrom, withinPrefix } from '@ringwright/base/key-bounds';
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { circleOf, isInArc } from './hash-circle.ts';
import { randomEnds } from './hash-ends.ts';
import { timesIntervals } from './partition-power.ts';
import type { HashIntervalsPartitioner, IntervalPartitioner, Partitioner } from './partitioner.ts';
import { mergeIntervals, splitInterval, withListedIntervals } from './reshape.ts';
import {
  boundsAt,
  currentPosition,
  firstPosition,
  nextPosition,
  type Scanned,
  type ScanPosition,
  scannedOf,
} from './scan-order.ts';

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
  return scannedOf({ partitioner }, { bounds: withinPrefix(bounds, prefix), prefix });
}

function keysOf({ partitionOf, bounds }: Scanned, partition: number | null): string[] {
  const { from, to, reverse } = bounds;
  const found = keys.filter((key) => {
    const isIn =
      key >= Buffer.from(from).toString() && (to === null || key < Buffer.from(to).toString());
    return isIn && (partition === null || partitionOf(Buffer.from(key)) === partition);
  });
  return reverse ? found.reverse() : found;
}

test('a scan of ranges returns all keys in order, and can be resumed at every border', () => {
  for (let turn = 0; turn < 2_000; turn += 1) {
    const scanned = someScan(someRanges());
    const given: string[] = [];
    for (let place = firstPosition(scanned); place !== null; ) {
      const { partition } = place;
      const part = keysOf({ ...scanned, bounds: boundsAt(scanned, place) }, null);
      expect(part).toEqual(keysOf(scanned, partition));
      given.push(...part);
      place = nextPosition(scanned, place);
      if (place === null) continue;
      const bounds = boundsFrom(scanned.bounds, place.at);
      expect(firstPosition({ ...scanned, bounds })?.partition).toBe(place.partition);
    }
    expect(given).toEqual(keysOf(scanned, null));
  }
});

test('a scan of the keys of one tag reads one partition', () => {
  const partitioner: Partitioner = {
    kind: 'hash-intervals',
    hash: 'jenkins',
    hashKey: '{tag}',
    partitions: 32,
  };
  const read = (prefix: string): number => {
    const bounds = { from: Buffer.from(prefix), to: null, reverse: false };
    const scanned = scannedOf({ partitioner }, { bounds, prefix: Buffer.from(prefix) });
    let count = 0;
    for (let at = firstPosition(scanned); at !== null; at = nextPosition(scanned, at)) count += 1;
    return count;
  };
  expect([read('{ada}:'), read('{ada'), read('')]).toEqual([1, 32, 32]);
});

const equal: HashIntervalsPartitioner = { kind: 'hash-intervals', hash: 'murmur3', partitions: 4 };

/** Returns a random split or merge of one or all live partitions, or the partitioner itself. */
function reshapedAtRandom(before: HashIntervalsPartitioner): HashIntervalsPartitioner {
  const { ids = [], ends = [] } = withListedIntervals(before) as HashIntervalsPartitioner;
  const at = random.below(ends.length);
  const idAt = (index: number): number => ids[index % ends.length] ?? index % ends.length;
  const ways: (() => IntervalPartitioner | null)[] = [
    () => splitInterval(before, idAt(at), [((ends[at] ?? 0) + 2 ** 32 - 99) % 2 ** 32]),
    () => (ends.length < 2 ? before : mergeIntervals(before, idAt(at), idAt(at + 1))),
    () => (ends.length > 40 ? before : timesIntervals(before, 2)),
    () => (ends.length % 2 === 1 ? before : timesIntervals(before, 1 / 2)),
  ];
  try {
    return (ways[random.below(4)]?.() ?? before) as HashIntervalsPartitioner;
  } catch {
    return before; // the interval is too narrow for that split
  }
}

const circles: readonly (readonly [string, Partitioner])[] = [
  ['equal', equal],
  ['drawn', { ...equal, ends: randomEnds(4, 5) }],
  ['one', { ...equal, partitions: 1 }],
  ['md5-shift', { kind: 'md5-shift', power: 2, prefix: '', suffix: '' }],
];

test.each(circles)(
  '%s: a place of a scan by hash stays valid after any splits and merges',
  (_, first) => {
    for (let turn = 0; turn < 200; turn += 1) {
      const reverse = random.below(2) === 0;
      const bounds = { from: new Uint8Array(), to: null, reverse };
      const scanIn = (partitioner: Partitioner): Scanned =>
        scannedOf({ partitioner }, { bounds, prefix: new Uint8Array() });
      let partitioner = first;
      const all = Array.from({ length: 60 }, () => random.next()).concat(0, 2 ** 32 - 1);
      const given: number[] = [];
      let place: ScanPosition | null = firstPosition(scanIn(partitioner));
      while (place !== null) {
        const { arc, cut } = place;
        given.push(...all.filter((hash) => isInArc(arc!, hash)));
        place = nextPosition(scanIn(partitioner), place);
        if (place === null) break;
        if (partitioner.kind === 'md5-shift') partitioner = { ...equal, hash: 'md5' };
        else partitioner = reshapedAtRandom(partitioner as HashIntervalsPartitioner);
        place = currentPosition(scanIn(partitioner), { partitioner }, place);
        expect(place?.cut).toBe(cut);
        expect(circleOf(partitioner)?.arcOf(place!.partition)).not.toBe(null);
      }
      expect(given.toSorted((a, b) => a - b)).toEqual(all.toSorted((a, b) => a - b));
    }
  },
);
