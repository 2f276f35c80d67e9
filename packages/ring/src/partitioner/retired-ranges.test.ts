// Tests the retirement of ranges between splits and merges. Every version is encoded, decoded and
// audited. The model is the set of keys that still have records: children that the ring declares
// empty must have none of them.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { finalizeMoves, initializeMoves, reshapeRing } from '../advance-ring.ts';
import { auditRing } from '../audit/audit-ring.ts';
import { auditTransition } from '../audit/audit-transition.ts';
import { changeSize, whyLarge } from '../audit/large-change.ts';
import { decodeRing, encodeRing } from '../file/ring-file.ts';
import { reshapeMappingOf } from '../reshape-ring.ts';
import type { Ring } from '../ring.ts';
import { holdersOf } from '../slots-of.ts';
import { partitionerOf } from './partition-of-key.ts';
import type { IntervalPartitioner } from './partitioner.ts';
import { mayFollow, mergeIntervals, splitInterval } from './reshape.ts';
import { retireBefore } from './retired-ranges.ts';

const keyOf = (index: number): string => `k${100 + index}`;
const keys = Array.from({ length: 200 }, (_, index) => keyOf(index));

function rangesOf({ partitioner }: Pick<Ring, 'partitioner'>) {
  if (partitioner.kind !== 'ranges') throw new Error(partitioner.kind);
  return partitioner;
}

/** Returns the ring as servers get it: decoded from its file, audited, as a successor. */
function published(previous: Ring, next: Ring): Ring {
  const { ring } = decodeRing(encodeRing(next).bytes);
  expect(auditRing(ring)).toEqual([]);
  const previousId = encodeRing(previous).id;
  expect(auditTransition({ previous, previousId, next: ring })).toEqual([]);
  expect(encodeRing(ring).id).toBe(encodeRing(next).id);
  return ring;
}

test.each([1, 2, 3, 4])('random histories empty only retired ranges (seed %i)', (seed) => {
  const random = seededRandom(seed);
  const first: IntervalPartitioner = { kind: 'ranges', partitions: 1, starts: [] };
  const served = servedRing({ devices: 3, replicas: 3, power: 0 });
  let ring: Ring = { ...served, partitioner: first };
  /** The keys whose records, written at the beginning, are still there. */
  let kept = new Set(keys);
  let retired = 0;
  for (let round = 0; round < 40; round += 1) {
    const before = rangesOf(ring);
    const key = keyOf(random.below(220));
    const id = partitionerOf(before)(Buffer.from(key));
    const [one = 0, other = one] = before.ids ?? before.starts.map((_, index) => index + 1);
    const kind = random.below(3);
    let wanted: IntervalPartitioner;
    try {
      if (kind === 0) wanted = splitInterval(before, id, [key]);
      else if (kind === 1) wanted = mergeIntervals(before, one, other);
      else wanted = retireBefore(before, key);
    } catch (error) {
      const code = { 0: 'SPLIT_OUTSIDE', 1: 'MERGE_NOT_ADJACENT' }[kind] ?? 'RETIRE_NOTHING';
      expect(error).toMatchObject({ code });
      const ends = before.starts.filter((start) => start <= key && start !== before.retiredBefore);
      if (kind === 2) expect(ends.filter((one) => one > (before.retiredBefore ?? ''))).toEqual([]);
      continue;
    }
    expect(mayFollow(before, wanted)).toBe(true);
    const begun = published(ring, reshapeRing(ring, encodeRing(ring).id, { partitioner: wanted }));
    const { parents, emptied } = reshapeMappingOf(begun);
    const why = whyLarge(changeSize(ring, begun), 0.05);
    if (kind === 2) expect(why).toMatch(/^\d+ partitions? (is|are) retired with their records$/);
    else expect(why).toBeNull();
    const copying = published(begun, initializeMoves(begun, encodeRing(begun).id));
    expect(whyLarge(changeSize(begun, copying), 0.05)).toBeNull();
    ring = published(copying, finalizeMoves(copying, encodeRing(copying).id));
    const partitionOf = partitionerOf(ring.partitioner);
    const last = before.starts.filter((start) => start <= key).at(-1) ?? '';
    kept = new Set([...kept].filter((one) => kind !== 2 || one >= last));
    for (const one of kept) expect(emptied).not.toContain(partitionOf(Buffer.from(one)));
    for (const child of emptied) expect(holdersOf(ring, child)).toEqual([0, 1, 2]);
    expect(emptied.size).toBe(kind === 2 ? 1 : 0);
    for (const child of emptied) expect(parents.get(child)?.length).toBeGreaterThan(0);
    retired += emptied.size;
  }
  expect(retired).toBeGreaterThan(1);
});

test('a range that does not end before the bound stays, and the hint says what to do', () => {
  const ranges = { kind: 'ranges', partitions: 3, starts: ['g', 'n'] } as const;
  expect(retireBefore(ranges, 'm')).toEqual({
    ...{ kind: 'ranges', partitions: 4, starts: ['g', 'n'], retiredBefore: 'g', ids: [3, 1, 2] },
  });
  expect(retireBefore(ranges, 'z')).toMatchObject({ starts: ['n'], ids: [3, 2] });
  const message = 'no range ends at or before b: the first one ends before g';
  const hint: unknown = expect.stringContaining('split RING PARTITION --at b first');
  expect(() => retireBefore(ranges, 'b')).toThrow(
    expect.objectContaining({ code: 'RETIRE_NOTHING', message, hint }),
  );
  const quoted: unknown = expect.stringContaining(`PARTITION --at 'a'\\''b' first`);
  expect(() => retireBefore(ranges, "a'b")).toThrow(expect.objectContaining({ hint: quoted }));
});
