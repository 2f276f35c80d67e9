// Tests the change guard on rings made by hand. test/builder/change-guard.test.ts tests it on real
// plans.
import { expect, test } from 'vitest';
import { idOf, nonHolderOf, sampleRing } from '../../test/support/sample-ring.ts';
import {
  cancelMoves,
  finalizeMoves,
  initializeMoves,
  proposeMoves,
  reshapeRing,
} from '../advance-ring.ts';
import { encodeRing } from '../file/ring-file.ts';
import { splitInterval } from '../partitioner/reshape.ts';
import { retireBefore } from '../partitioner/retired-ranges.ts';
import type { Ring } from '../ring.ts';
import { deviceOf } from '../slot-rows.ts';
import { changeSize, whyLarge } from './large-change.ts';

const ring = sampleRing({ power: 6, replicas: 3, devices: 8 });

/** Moves one slot of each of the first partitions to a device that does not hold the partition. */
function proposed(count: number): Ring {
  const moves = Array.from({ length: count }, (_, partition) => {
    const from = deviceOf(ring.table, 0, partition);
    return { partition, replica: 0, from, to: nonHolderOf(ring, partition) };
  });
  return proposeMoves(ring, encodeRing(ring).id, { moves });
}

test('at most five percent of the slots may move without an explanation', () => {
  const slots = 3 * 64;
  const most = Math.floor(0.05 * slots);
  const size = changeSize(ring, proposed(40));
  expect(size).toMatchObject({ slots, moved: 40, underQuorum: 0 });
  expect(whyLarge({ ...size, unexplained: most, given: 0 }, 0.05)).toBe(null);
  const grown = { ...size, joins: 'd4', unexplained: most + 1, given: 0 };
  expect(whyLarge(grown, 0.05)).toBe(
    '40 of 192 slots move, 30 of them explained by d4 growing to the size of the largest device; ' +
      '10 are not, at most 9 allowed',
  );
  const alone = { ...size, moved: 10, unexplained: 10, given: 0 };
  expect(whyLarge(alone, 0.05)).toBe('10 of 192 slots move, at most 9 allowed');
  expect(whyLarge(size, 0.05)).not.toBe(null);
});

test('steps of moves in flight, and canceling them, do not count as moves', () => {
  const head = proposed(40);
  const id = encodeRing(head).id;
  const copying = initializeMoves(head, id);
  const done = finalizeMoves(copying, encodeRing(copying).id);
  const back = cancelMoves(head, id, new Set(head.moves.map(({ assignment }) => assignment)));
  for (const [before, after] of [
    [head, copying],
    [copying, done],
    [head, back],
  ] as const) {
    expect(changeSize(before, after)).toMatchObject({ moved: 0, underQuorum: 0 });
  }
});

test('a change is large if a partition keeps less than a quorum of its slots', () => {
  const moves = [0, 1].map((replica) => {
    const from = deviceOf(ring.table, replica, 5);
    return { partition: 5, replica, from, to: 0 };
  });
  const free = ring.devices.flatMap((device) =>
    device !== null && !ring.table.some((row) => row[5] === device.id) ? [device.id] : [],
  );
  const wanted = moves.map((move, index) => ({ ...move, to: free[index] ?? -1 }));
  const next = proposeMoves(ring, encodeRing(ring).id, { moves: wanted });
  const size = changeSize(ring, next);
  expect(size).toMatchObject({ moved: 2, underQuorum: 1 });
  expect(whyLarge(size, 0.05)).toContain('1 partition would keep less than a quorum');
});

test('removed devices count as lost: two of three replicas, or the only one', () => {
  const holders = (partition: number): number[] =>
    ring.table.flatMap((row) => row[partition] ?? []);
  const one = holders(0).slice(0, 1);
  expect(changeSize(ring, ring, new Set(one)).underQuorum).toBe(0);
  const two = new Set(holders(0).slice(0, 2));
  expect(changeSize(ring, ring, two).underQuorum).toBeGreaterThan(0);
  const single = sampleRing({ power: 4, replicas: 1, devices: 4 });
  expect(changeSize(single, single, new Set([0])).underQuorum).toBe(4);
});

test('one replica more or less is no move; two of three replicas less are too many', () => {
  const more = sampleRing({ power: 6, replicas: 4, devices: 8 });
  expect(changeSize(ring, more)).toMatchObject({ moved: 0, underQuorum: 0 });
  expect(changeSize(more, ring)).toMatchObject({ moved: 0, underQuorum: 0 });
  const one = sampleRing({ power: 6, replicas: 1, devices: 8 });
  expect(changeSize(ring, one)).toMatchObject({ moved: 0, underQuorum: 64 });
});

const months = { kind: 'ranges', partitions: 3, starts: ['02', '03'] } as const;
const monthly: Ring = {
  ...sampleRing({ power: 1, replicas: 3, devices: 5 }),
  ...{ partitioner: months, partitions: 3, minVersions: Uint32Array.of(1, 1, 1) },
  table: [0, 1, 2].map((device) => new Uint16Array(3).fill(device)),
};
const splitMonth = splitInterval(months, 0, ['0115']);
const splitting = reshapeRing(monthly, idOf(monthly), { partitioner: splitMonth });

test('a split is large if nobody fills the children: at once, or not as it was begun', () => {
  const direct = reshapeRing(monthly, idOf(monthly), { partitioner: splitMonth, direct: true });
  const done = finalizeMoves(initializeMoves(splitting, idOf(splitting)), idOf(splitting));
  const why = (before: Ring, after: Ring) => whyLarge(changeSize(before, after), 1);
  const sentence = '1 partition ends, and no other gets the records';
  expect(why(monthly, direct)).toBe(sentence);
  expect(why(monthly, { ...direct, reshape: { kind: 'from', partitioner: months } })).toBe(
    sentence,
  );
  expect(why(splitting, { ...done, reshape: undefined })).toBe(sentence);
  expect([why(monthly, splitting), why(splitting, done)]).toEqual([null, null]);
});

test('a split that becomes a retirement is large', () => {
  const retired = retireBefore(months, '03');
  const next = reshapeRing(monthly, idOf(monthly), { partitioner: retired });
  const why = (before: Ring) => whyLarge(changeSize(before, next), 1);
  expect([why(monthly), why(splitting)]).toEqual(
    Array(2).fill('2 partitions are retired with their records'),
  );
  expect(why(next)).toBe(null);
});

test('rings with 100,000 devices can be compared', () => {
  const large = sampleRing({ power: 17, replicas: 3, devices: 100_000 });
  expect(changeSize(large, large).moved).toBe(0);
});

test('a lower replica count must keep a quorum of the old replicas', () => {
  const at = (replicas: number) => sampleRing({ power: 6, replicas, devices: 8 });
  const why = (before: number, after: number): string | null =>
    whyLarge(changeSize(at(before), at(after)), 1);
  expect([why(3, 2), why(4, 3), why(5, 4), why(3, 2.5), why(2, 3), why(1, 1)]).toEqual(
    Array(6).fill(null),
  );
  expect(why(2, 1)).toContain('replicas change from 2 to 1: 64 partitions keep too few');
  expect(why(2, 1.5)).toContain('32 partitions keep too few');
  expect(why(2.5, 1.5)).toContain('32 partitions keep too few');
  expect(why(5, 2)).toContain('64 partitions');
});
