// Tests splits and merges. The model is the partition of each of 300 keys before and after. Every
// version is audited, also after it was encoded and decoded.
import { seededRandom } from '@ringwright/base/random';
import { describe, expect, test } from 'vitest';
import { idOf, sampleDevice } from '../test/support/sample-ring.ts';
import {
  cancelMoves,
  finalizeMoves,
  initializeMoves,
  proposeMoves,
  reshapeRing,
} from './advance-ring.ts';
import { auditRing } from './audit/audit-ring.ts';
import { auditTransition } from './audit/audit-transition.ts';
import { changeSize, whyLarge } from './audit/large-change.ts';
import { diffRings } from './diff-rings.ts';
import { dutiesOf, dutyOf } from './duty-of.ts';
import { applyRingDelta, makeRingDelta } from './file/ring-delta.ts';
import { decodeRing, encodeRing } from './file/ring-file.ts';
import { firstRing } from './first-ring.ts';
import { partitionerOf } from './partitioner/partition-of-key.ts';
import { type IntervalPartitioner, isIntervals } from './partitioner/partitioner.ts';
import {
  equalCuts,
  mayFollow,
  mergeIntervals,
  reshapeMapping,
  splitInterval,
} from './partitioner/reshape.ts';
import { partedParents, reshapeMappingOf } from './reshape-ring.ts';
import type { Ring } from './ring.ts';
import { zeroTable } from './slot-rows.ts';
import { holdersOf } from './slots-of.ts';

const kinds: readonly IntervalPartitioner[] = [
  { kind: 'ranges', partitions: 1, starts: [] },
  { kind: 'hash-intervals', hash: 'murmur3', partitions: 4 },
  { kind: 'hash-intervals', hash: 'md5', hashKey: '{tag}', partitions: 2, ends: [9, 2 ** 31] },
];

function ringOf(partitioner: IntervalPartitioner): Ring {
  const { partitions } = partitioner;
  const table = zeroTable(partitions, 3, 5);
  for (const [replica, row] of table.entries()) row.fill(replica);
  const devices = Array.from({ length: 5 }, (_, id) => sampleDevice(id));
  const settings = { keyspace: 'cities', cluster: 'test', partitioner, partitions };
  return firstRing({ ...settings, replicas: 3, devices, table });
}

function partitionerIn({ partitioner }: Ring): IntervalPartitioner {
  if (!isIntervals(partitioner)) throw new Error(partitioner.kind);
  return partitioner;
}

/** Returns the ring as servers get it: decoded from a file or delta, audited, as a successor. */
function published(previous: Ring, next: Ring): Ring {
  const [before, after] = [encodeRing(previous), encodeRing(next)];
  const { ring } = decodeRing(after.bytes);
  expect(encodeRing(ring).bytes.equals(after.bytes)).toBe(true);
  const delta = makeRingDelta(before.bytes, after.bytes);
  if (delta !== null) expect(applyRingDelta(before.bytes, delta).equals(after.bytes)).toBe(true);
  expect(auditRing(ring)).toEqual([]);
  expect(auditTransition({ previous, previousId: before.id, next: ring })).toEqual([]);
  expect(mayFollow(previous.partitioner, ring.partitioner)).toBe(true);
  expect(whyLarge(changeSize(previous, ring), 0.05)).toBe(null);
  return ring;
}

const keys = Array.from({ length: 300 }, (_, index) => Buffer.from(`key ${(index * 7919) % 1000}`));

describe.each(kinds)('$kind', (first) => {
  test('random splits and merges move keys only to children of their partitions', () => {
    const random = seededRandom(first.partitions * 31 + first.kind.length);
    const pick = <T>(list: readonly T[]): T => list[random.next() % list.length] as T;
    let ring = ringOf(first);
    for (let round = 0; round < 40; round += 1) {
      const before = partitionerIn(ring);
      const live = [...new Set(keys.map(partitionerOf(before)))];
      const wanted = changed(before, live, pick);
      const found = reshapeMapping(before, wanted);
      const { parents, retired } = found;
      expect(partedParents(ring, found)).toEqual([]);
      const begun = published(ring, reshapeRing(ring, idOf(ring), { partitioner: wanted }));
      const places = keys.map(partitionerOf(before));
      expect(keys.map(partitionerOf(begun.partitioner))).toEqual(places);
      for (const [child, from] of parents) {
        expect(dutyOf(begun, child, 1)).toMatchObject({ kind: 'LOAD', pushTo: [0, 2] });
        for (const parent of from) expect(begun.minVersions[parent]).toBe(begun.version);
      }
      if (round % 5 === 4) {
        const all = new Set(begun.moves.map(({ assignment }) => assignment));
        ring = published(begun, cancelMoves(begun, idOf(begun), all));
        expect(keys.map(partitionerOf(ring.partitioner))).toEqual(places);
        for (const child of parents.keys()) expect(holdersOf(ring, child)).toEqual([]);
        continue;
      }
      const copying = published(begun, initializeMoves(begun, idOf(begun)));
      ring = published(copying, finalizeMoves(copying, idOf(copying)));
      const partitionOf = partitionerOf(ring.partitioner);
      for (const [index, key] of keys.entries()) {
        const [was, is] = [places[index] ?? -1, partitionOf(key)];
        if (retired.has(was)) expect(parents.get(is)).toContain(was);
        else expect(is).toBe(was);
        expect(holdersOf(ring, is)).toEqual([0, 1, 2]);
      }
      for (const parent of retired) {
        expect(dutyOf(ring, parent, 1)).toEqual({ kind: 'UNLOAD', pushTo: [] });
        expect(dutiesOf(ring, 1).serve).not.toContain(parent);
      }
      expect(reshapeMappingOf(ring).parents).toEqual(parents);
      expect(diffRings(copying, ring).moved).toEqual([]);
    }
    expect(ring.partitions).toBeGreaterThan(first.partitions + 40);
  });
});

function changed(
  before: IntervalPartitioner,
  live: readonly number[],
  pick: <T>(list: readonly T[]) => T,
): IntervalPartitioner {
  for (;;) {
    try {
      const id = pick(live);
      if (live.length > 12 || pick([true, true, false])) {
        if (live.length > 4) return mergeIntervals(before, id, pick(live));
      }
      if (before.kind === 'hash-intervals')
        return splitInterval(before, id, equalCuts(before, id, pick([2, 3])));
      return splitInterval(before, id, [pick(keys).toString('latin1').replace(' ', '%20')]);
    } catch (error) {
      expect(error).toMatchObject({
        code: expect.stringMatching(/SPLIT_OUTSIDE|MERGE_NOT_ADJACENT/),
      });
    }
  }
}

const misplaced: readonly [at: string[], id: number, code: string, message: string][] = [
  [['g'], 0, 'SPLIT_OUTSIDE', 'partition 0 is […, g): a split at g would leave'],
  [['z'], 0, 'SPLIT_OUTSIDE', 'a split at z would leave an empty interval, or lies'],
  [['b', 'b'], 0, 'SPLIT_OUTSIDE', 'a split at b is named twice'],
  [[''], 0, 'SPLIT_OUTSIDE', 'a split at the first key'],
  [['m'], 7, 'VALUE_OUT_OF_RANGE', 'there is no partition 7: 3 were ever made'],
];

test.each(misplaced)('a split at %j of range %i is refused with %s', (...row) => {
  const [at, id, code, message] = row;
  const ranges: IntervalPartitioner = { kind: 'ranges', partitions: 3, starts: ['g', 'n'] };
  expect(() => splitInterval(ranges, id, at)).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(message) }),
  );
});

test('only adjacent partitions can be merged, also across the end of the circle', () => {
  const ranges: IntervalPartitioner = { kind: 'ranges', partitions: 3, starts: ['g', 'n'] };
  for (const [one, other] of [
    [0, 2],
    [1, 1],
  ] as const) {
    expect(() => mergeIntervals(ranges, one, other)).toThrow(
      expect.objectContaining({ code: 'MERGE_NOT_ADJACENT' }),
    );
  }
  const circle: IntervalPartitioner = { kind: 'hash-intervals', hash: 'md5', partitions: 3 };
  const around = mergeIntervals(circle, 2, 0);
  expect(around).toMatchObject({ partitions: 4, ids: [3, 1, 2].slice(0, 2) });
});

test('the audits find wrong versions of a split', () => {
  const ring = ringOf({ kind: 'ranges', partitions: 1, starts: [] });
  const wanted = splitInterval(partitionerIn(ring), 0, ['m']);
  const begun = reshapeRing(ring, idOf(ring), { partitioner: wanted });
  const found = (next: Ring): string[] => auditRing(next).map(({ code }) => code);
  const [move, ...rest] = begun.moves;
  if (move === undefined) throw new Error('no move');
  expect(found({ ...begun, moves: rest })).toEqual(['MOVE_CHILD_WRONG']);
  expect(found({ ...begun, moves: [{ ...move, to: 4 }, ...rest] })).toEqual(['MOVE_CHILD_WRONG']);
  const table = begun.table.map((row) => row.slice().fill(0, 1, 2));
  expect(found({ ...begun, table })).toContain('SLOT_DEVICE_UNKNOWN');
  const other = splitInterval(partitionerIn(ring), 0, ['n']);
  expect(
    found({ ...begun, reshape: { kind: 'to', partitioner: { ...other, partitions: 4 } } }),
  ).toEqual(['RING_RESHAPE_INVALID']);
  const at = { previous: begun, previousId: idOf(begun) };
  const early = {
    ...finalizeMoves(initialized(begun), idOf(begun)),
    version: 3,
    parent: idOf(begun),
  };
  const codes = auditTransition({ ...at, next: early }).map(({ code }) => code);
  expect(codes).toContain('NEXT_MOVE_SKIPPED_STATE');
  const elsewhere = { ...early, partitioner: other };
  expect(auditTransition({ ...at, next: elsewhere }).map(({ code }) => code)).toContain(
    'NEXT_OF_ANOTHER_RING',
  );
});

test('after a split, new slots belong to all partitions that take keys and to no others', () => {
  const ring = ringOf({ kind: 'ranges', partitions: 2, starts: ['m'] });
  const wanted = splitInterval(partitionerIn(ring), 0, ['c']);
  const split = reshapeRing(ring, idOf(ring), { partitioner: wanted, direct: true });
  const to = (...partitions: number[]) =>
    partitions.map((partition) => ({ partition, replica: 3, from: null, to: 4 }));
  const grows = (moves: ReturnType<typeof to>): Ring => proposeMoves(split, idOf(split), { moves });
  const begun = published(split, grows(to(1, 2, 3)));
  const ready = published(begun, initializeMoves(begun, idOf(begun)));
  const grown = published(ready, finalizeMoves(ready, idOf(ready)));
  expect([grown.replicas, grown.table[3]]).toEqual([4, Uint16Array.of(0xffff, 4, 4, 4)]);
  const found = (next: Ring): string[] => auditRing(next).map(({ code }) => code);
  expect(found(grows(to(1, 2)))).toContain('MOVE_SLOT_NOT_NEXT');
  expect(found(grows(to(0, 2, 3)))).toContain('MOVE_SLOT_NOT_NEXT');
  const table = grown.table.map((row, replica) => (replica === 3 ? row.slice(0, 2) : row));
  expect(found({ ...grown, replicas: 3.5, table })).toEqual(['RING_REPLICAS_INVALID']);
});

function initialized(ring: Ring): Ring {
  return {
    ...ring,
    moves: ring.moves.map((move) => ({ ...move, state: 'INITIALIZING' as const })),
  };
}

test('a direct split and merge takes one version', () => {
  const ring = ringOf({ kind: 'hash-intervals', hash: 'jenkins', partitions: 4 });
  const wanted = mergeIntervals(
    splitInterval(partitionerIn(ring), 1, equalCuts(partitionerIn(ring), 1, 2)),
    2,
    3,
  );
  const next = reshapeRing(ring, idOf(ring), { partitioner: wanted, direct: true });
  expect(auditRing(next)).toEqual([]);
  expect(auditTransition({ previous: ring, previousId: idOf(ring), next })).toEqual([]);
  expect(next).toMatchObject({ moves: [], partitioner: wanted });
});

test('the last range may not end before a key under its id, whatever the key is', () => {
  const before: IntervalPartitioner = { kind: 'ranges', partitions: 2, starts: ['g'] };
  for (const key of ['n', 'undefined']) {
    expect(mayFollow(before, { ...before, partitions: 3, starts: ['g', key] })).toBe(false);
  }
});
