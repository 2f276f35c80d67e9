// Tests every legal step from version to version against the audits, also in random walks, and that
// illegal steps throw.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idOf, nonHolderOf, sampleDevice, sampleRing } from '../test/support/sample-ring.ts';
import {
  cancelMoves,
  directRing,
  finalizeMoves,
  initializeMoves,
  proposeMoves,
  type SlotMove,
} from './advance-ring.ts';
import { auditRing } from './audit/audit-ring.ts';
import { auditTransition } from './audit/audit-transition.ts';
import { decodeRing, encodeRing } from './file/ring-file.ts';
import type { Ring } from './ring.ts';
import { copyTable, deviceOf } from './slot-rows.ts';

const small = sampleRing({ power: 3, replicas: 3, devices: 6 });

function moveOf(ring: Ring, partition: number, replica: number): SlotMove {
  const from = deviceOf(ring.table, replica, partition);
  return { partition, replica, from, to: nonHolderOf(ring, partition) };
}

function frozenCopy(ring: Ring): Ring {
  return decodeRing(encodeRing(ring).bytes).ring;
}

describe('one move from proposal to the table', () => {
  const move = moveOf(small, 5, 1);
  const proposed = proposeMoves(small, idOf(small), { moves: [move] });
  const initializing = initializeMoves(proposed, idOf(proposed));
  const finalized = finalizeMoves(initializing, idOf(initializing));

  test('the proposal raises the minVersion, since writes go to the joiner', () => {
    expect(proposed.moves).toEqual([{ ...move, state: 'PROPOSED', assignment: 1 }]);
    expect([...proposed.minVersions]).toEqual([1, 1, 1, 1, 1, 2, 1, 1]);
    expect(proposed).toMatchObject({ version: 2, parent: idOf(small), nextAssignment: 2 });
    expect(deviceOf(proposed.table, 1, 5)).toBe(move.from);
  });

  test('initializing a move changes only its state', () => {
    expect(initializing.moves).toEqual([{ ...move, state: 'INITIALIZING', assignment: 1 }]);
    expect(initializing.minVersions).toEqual(proposed.minVersions);
    expect(initializing.version).toBe(3);
  });

  test('finalizing puts the joiner into the table', () => {
    expect(deviceOf(finalized.table, 1, 5)).toBe(move.to);
    expect(finalized.moves).toEqual([]);
    expect(finalized.minVersions[5]).toBe(4);
    expect(deviceOf(initializing.table, 1, 5), 'the parent does not change').toBe(move.from);
  });

  test('canceling a move keeps the table and raises the minVersion', () => {
    const cancelled = cancelMoves(initializing, idOf(initializing), new Set([1]));
    expect(cancelled.table).toEqual(small.table);
    expect(cancelled.minVersions[5]).toBe(4);
    const again = proposeMoves(cancelled, idOf(cancelled), { moves: [move] });
    expect(again.moves[0]?.assignment, 'ids are never reused').toBe(2);
  });

  test('every step is a legal transition', () => {
    const steps = [small, proposed, initializing, finalized];
    for (const [index, next] of steps.entries()) {
      expect(auditRing(next)).toEqual([]);
      const previous = steps[index - 1];
      if (previous === undefined) continue;
      expect(auditTransition({ previous, previousId: idOf(previous), next })).toEqual([]);
    }
  });
});

describe('illegal steps throw', () => {
  const move = moveOf(small, 2, 0);
  const propose = (moves: SlotMove[]) => () => proposeMoves(small, idOf(small), { moves });
  test.each([
    ['from a device that does not hold the slot', [{ ...move, from: move.to }], /is on device/],
    ['to a device that does not exist', [{ ...move, to: 6 }], /no device 6/],
    ['to a holder', [{ ...move, to: deviceOf(small.table, 1, 2) }], /holds partition 2 already/],
    ['of a slot that the table does not have', [{ ...move, replica: 3 }], /no slot/],
    ['of a slot that another move has', [move, move], /two moves of slot/],
    [
      'to a device that another move joins',
      [move, { ...moveOf(small, 2, 1), to: move.to }],
      /joins partition 2 twice/,
    ],
  ])('a move %s throws', (_, moves, message) => {
    expect(propose(moves)).toThrow(message);
  });

  test('finalizing a PROPOSED move, canceling an absent one, and a direct ring throw', () => {
    const proposed = proposeMoves(small, idOf(small), { moves: [move] });
    expect(() => finalizeMoves(proposed, idOf(proposed), new Set([1]))).toThrow(/is PROPOSED/);
    expect(() => cancelMoves(proposed, idOf(proposed), new Set([9]))).toThrow(/0 in flight/);
    expect(() => directRing(proposed, idOf(proposed), { table: small.table })).toThrow(/in flight/);
  });

  test('a parent that is not a ring id throws', () => {
    expect(() => initializeMoves(small, 'abc')).toThrow(/not 64 hex digits/);
  });
});

test('a direct ring raises the minVersion exactly where a slot changed', () => {
  const table = copyTable(small.table, 6);
  const row = table[2];
  if (row !== undefined) row[7] = nonHolderOf(small, 7);
  const next = directRing(small, idOf(small), { table });
  expect([...next.minVersions]).toEqual([1, 1, 1, 1, 1, 1, 1, 2]);
  if (row !== undefined) row[6] = 0;
  expect(next.table[2], 'the ring has its own copy of the table').not.toEqual(row);
  expect(auditTransition({ previous: small, previousId: idOf(small), next })).toEqual([]);
});

test('device ids grow to four bytes with the device list', () => {
  const many = Array.from({ length: 65_536 }, (_, id) => small.devices[id] ?? sampleDevice(id));
  const next = proposeMoves(small, idOf(small), { moves: [], devices: many });
  expect(next.table[0]).toBeInstanceOf(Uint32Array);
  expect([...(next.table[0] ?? [])]).toEqual([...(small.table[0] ?? [])]);
  expect([...next.minVersions]).toEqual([...small.minVersions]);
});

test('any walk of steps keeps every invariant and never changes a parent', () => {
  const step = fc.record({ kind: fc.nat(3), partition: fc.nat(15), replica: fc.nat(2) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let ring = sampleRing({ power: 4, replicas: 2.5, devices: 7, holes: [3] });
      for (const { kind, partition, replica } of steps) {
        const before = frozenCopy(ring);
        const next = advance(ring, kind, { partition, replica });
        expect(ring).toEqual(before);
        expect(auditRing(next)).toEqual([]);
        expect(auditTransition({ previous: ring, previousId: idOf(ring), next })).toEqual([]);
        ring = next;
      }
    }),
  );
});

function advance(ring: Ring, kind: number, slot: { partition: number; replica: number }): Ring {
  const id = idOf(ring);
  if (kind === 1) return initializeMoves(ring, id);
  if (kind === 2) return finalizeMoves(ring, id);
  if (kind === 3)
    return cancelMoves(ring, id, new Set(ring.moves.slice(0, 1).map((m) => m.assignment)));
  const { partition, replica } = slot;
  const from = ring.table[replica]?.[partition];
  const busy = ring.moves.some((m) => m.partition === partition && m.replica === replica);
  const to = nonHolderOf(ring, partition);
  const moves = from === undefined || busy || to < 0 ? [] : [{ partition, replica, from, to }];
  return proposeMoves(ring, id, { moves });
}
