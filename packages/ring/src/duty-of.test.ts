// Tests slots, holders and duties against a plain model without binary search.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nonHolderOf, sampleRing } from '../test/support/sample-ring.ts';
import { finalizeMoves, initializeMoves, proposeMoves, type SlotMove } from './advance-ring.ts';
import { dutiesOf, dutyOf } from './duty-of.ts';
import { encodeRing } from './file/ring-file.ts';
import { handoffsOf, tierCountsOf } from './handoffs-of.ts';
import type { Ring } from './ring.ts';
import { deviceOf } from './slot-rows.ts';
import { holdersOf, movesOf, slotsOf } from './slots-of.ts';

const first = sampleRing({ power: 4, replicas: 2.5, devices: 7, holes: [3] });
const moveOf = (partition: number, replica: number): SlotMove & { readonly from: number } => {
  const from = deviceOf(first.table, replica, partition);
  return { partition, replica, from, to: nonHolderOf(first, partition) };
};
const move = moveOf(6, 1);
const ring = proposeMoves(first, encodeRing(first).id, { moves: [move] });

describe('the duties of devices during a move', () => {
  const [a, b, c] = [0, 1, 2].map((replica) => deviceOf(first.table, replica, 6));

  test('the slot in flight has a joiner, and both devices hold the partition', () => {
    expect(slotsOf(ring, 6)).toEqual([
      { replica: 0, device: a, joiner: null },
      { replica: 1, device: b, joiner: move.to },
      { replica: 2, device: c, joiner: null },
    ]);
    expect(holdersOf(ring, 6)).toEqual([a, b, c, move.to]);
    expect(slotsOf(ring, 15), 'the last row is short').toHaveLength(2);
  });

  test('the old holder still serves, and pushes to the joiner', () => {
    expect(dutyOf(ring, 6, move.from)).toEqual({ kind: 'SERVE', pushTo: [a, c, move.to] });
  });

  test('the joiner loads, and pushes to the other holders', () => {
    const duty = dutyOf(ring, 6, move.to);
    expect(duty).toEqual({ kind: 'LOAD', pushTo: [a, b, c] });
  });

  test('after the move is finalized, the old holder unloads and the joiner serves', () => {
    const initializing = initializeMoves(ring, encodeRing(ring).id);
    const done = finalizeMoves(initializing, encodeRing(initializing).id);
    expect(dutyOf(done, 6, move.from)).toEqual({ kind: 'UNLOAD', pushTo: [a, move.to, c] });
    expect(dutyOf(done, 6, move.to)).toEqual({ kind: 'SERVE', pushTo: [a, c] });
  });

  test('a joiner is not a handoff', () => {
    const handoffs = [...handoffsOf(ring, 6, tierCountsOf(ring))].map(({ id }) => id);
    expect(handoffs).not.toContain(move.to);
    expect(new Set([...handoffs, ...holdersOf(ring, 6)]).size).toBe(6);
  });

  test('a partition that the ring does not have throws', () => {
    expect(() => slotsOf(ring, 16)).toThrow(/partition 16/);
    expect(() => slotsOf(ring, -1)).toThrow(/partition -1/);
  });
});

test('duties, slots and moves agree with the model in any ring', () => {
  const picks = fc.uniqueArray(fc.nat(15), { maxLength: 16 });
  fc.assert(
    fc.property(picks, fc.nat(1), (partitions, replica) => {
      const moves = partitions.map((partition) => moveOf(partition, replica));
      const any = proposeMoves(first, encodeRing(first).id, { moves });
      for (let partition = 0; partition < any.partitions; partition += 1)
        checkPartition(any, partition);
      for (let device = 0; device < 8; device += 1) {
        const { serve, load } = dutiesOf(any, device);
        expect(serve).toEqual(kindsOf(any, device, 'SERVE'));
        expect(load.map((one) => one.partition)).toEqual(kindsOf(any, device, 'LOAD'));
      }
    }),
  );
});

function kindsOf(any: Ring, device: number, kind: string): number[] {
  const partitions = Array.from({ length: any.partitions }, (_, partition) => partition);
  return partitions.filter((partition) => dutyOf(any, partition, device).kind === kind);
}

function checkPartition(any: Ring, partition: number): void {
  const moves = any.moves.filter((one) => one.partition === partition);
  expect(movesOf(any, partition)).toEqual(moves);
  const holders = any.table.flatMap((row) =>
    row[partition] === undefined ? [] : [row[partition]],
  );
  holders.push(...moves.map(({ to }) => to));
  expect(holdersOf(any, partition)).toEqual(holders);
  for (let device = 0; device < 8; device += 1) {
    const { pushTo } = dutyOf(any, partition, device);
    expect(pushTo).toEqual(holders.filter((holder) => holder !== device));
  }
}
