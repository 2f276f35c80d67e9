// Tests rows that grow and rows that are cut, step by step, and wrong ways to do it.
import { expect, test } from 'vitest';
import { idOf, nonHolderOf, sampleRing } from '../../test/support/sample-ring.ts';
import {
  cancelMoves,
  directRing,
  finalizeMoves,
  initializeMoves,
  proposeMoves,
  type SlotMove,
} from '../advance-ring.ts';
import { diffRings } from '../diff-rings.ts';
import { dutyOf } from '../duty-of.ts';
import { decodeRing, encodeRing } from '../file/ring-file.ts';
import type { Ring } from '../ring.ts';
import { holdersOf, slotsOf } from '../slots-of.ts';
import { auditRing } from './audit-ring.ts';
import { auditTransition } from './audit-transition.ts';

const first = sampleRing({ power: 3, replicas: 2.5, devices: 6, holes: [] });

/** New slots of the last four partitions, which raise 2.5 replicas to 3. */
const newSlots: SlotMove[] = [4, 5, 6, 7].map((partition) => {
  return { partition, replica: 2, from: null, to: nonHolderOf(first, partition) };
});

function checkStep(previous: Ring, next: Ring): void {
  expect(auditRing(next)).toEqual([]);
  expect(auditTransition({ previous, previousId: idOf(previous), next })).toEqual([]);
  const { ring } = decodeRing(encodeRing(next).bytes);
  expect(ring).toEqual(next);
}

test('new slots load, and count only once all of them are finalized together', () => {
  const proposed = proposeMoves(first, idOf(first), { moves: newSlots });
  checkStep(first, proposed);
  const { to } = newSlots[0]!;
  expect(slotsOf(proposed, 4)).toHaveLength(2);
  expect(holdersOf(proposed, 4)).toEqual([...holdersOf(first, 4), to]);
  expect(dutyOf(proposed, 4, to)).toMatchObject({ kind: 'LOAD', pushTo: holdersOf(first, 4) });
  const initializing = initializeMoves(proposed, idOf(proposed));
  checkStep(proposed, initializing);
  const half = new Set(initializing.moves.slice(0, 2).map(({ assignment }) => assignment));
  expect(() => finalizeMoves(initializing, idOf(initializing), half)).toThrow('2 of 4 new slots');
  expect(() => cancelMoves(initializing, idOf(initializing), half)).toThrow('2 of 4 new slots');
  const done = finalizeMoves(initializing, idOf(initializing));
  checkStep(initializing, done);
  expect(done.replicas).toBe(3);
  expect(slotsOf(done, 4).map(({ device }) => device)).toContain(to);
  expect([...done.minVersions.subarray(4)]).toEqual([4, 4, 4, 4].map(() => done.version));
  expect(diffRings(first, done)).toMatchObject({ slotsAdded: 4, moved: [] });
});

test('canceling new slots leaves the table unchanged', () => {
  const proposed = proposeMoves(first, idOf(first), { moves: newSlots });
  const all = new Set(proposed.moves.map(({ assignment }) => assignment));
  const back = cancelMoves(proposed, idOf(proposed), all);
  checkStep(proposed, back);
  expect(back.table).toEqual(first.table);
});

test('rows are cut at once beside a move, and a device that lost its slot unloads', () => {
  const table = first.table.slice(0, 2).map((row) => row.slice());
  const [lost, kept] = [table[1]![1]!, first.table[2]![1]!];
  table[1]![1] = kept;
  const move = { partition: 0, replica: 0, from: table[0]![0]!, to: nonHolderOf(first, 0) };
  const cut = proposeMoves(first, idOf(first), { moves: [move], cut: { replicas: 2, table } });
  checkStep(first, cut);
  expect(dutyOf(cut, 1, lost)).toMatchObject({ kind: 'UNLOAD', pushTo: holdersOf(cut, 1) });
  expect([...cut.minVersions]).toEqual([2, 2, 2, 2, 1, 1, 1, 1]);
  expect(diffRings(first, cut)).toMatchObject({ slotsRemoved: 4 });
});

test('a direct ring may have another replica count if its table fits', () => {
  const table = first.table.slice(0, 2);
  const direct = directRing(first, idOf(first), { table, replicas: 2 });
  checkStep(first, direct);
  expect(() => directRing(first, idOf(first), { table })).toThrow(
    'rows of 8,8 slots, expected 8,8,4',
  );
});

test('wrong changes of the replica count are refused or found', () => {
  const previousId = idOf(first);
  const other = first.table.slice(0, 2).map((row) => row.slice());
  other[0]![0] = nonHolderOf(first, 0);
  const moves = newSlots.slice(0, 0);
  const cut = { replicas: 2, table: other };
  expect(() => proposeMoves(first, previousId, { moves, cut })).toThrow('was not held before');
  const legal = directRing(first, previousId, { table: other, replicas: 2 });
  const proposed = proposeMoves(first, previousId, { moves: newSlots });
  const early = { ...proposed, replicas: 2, table: first.table.slice(0, 2) };
  const codes = auditTransition({ previous: first, previousId, next: early }).map(
    ({ code }) => code,
  );
  expect(codes).toContain('NEXT_MIN_VERSION_WRONG');
  const cutInFlight = { ...legal, version: proposed.version + 1, parent: idOf(proposed) };
  const found = auditTransition({
    previous: proposed,
    previousId: idOf(proposed),
    next: cutInFlight,
  });
  expect(found.map(({ code }) => code)).toContain('NEXT_OF_ANOTHER_RING');
});
