// The holders of a partition: its slots with the devices of moves in flight. Pure.
import { assert } from '@ringwright/base/assert';
import { firstWhere } from './first-where.ts';
import type { Move } from './move.ts';
import { deviceIn, type Ring } from './ring.ts';

export interface Slot {
  /** Replica index: the row of the slot. */
  readonly replica: number;
  /** The table's device, which serves reads. */
  readonly device: number;
  /** The joiner of a move in flight, which takes writes too; null when the slot stays. */
  readonly joiner: number | null;
}

/** The fields of a ring that determine its slots. */
export type SlottedRing = Pick<Ring, 'keyspace' | 'partitions' | 'table' | 'moves'>;

const noMoves: readonly Move[] = [];

/** Returns the moves in flight of a partition, by replica. O(log moves). */
export function movesOf(ring: Pick<Ring, 'moves'>, partition: number): readonly Move[] {
  const start = firstMoveAt(ring.moves, partition);
  let end = start;
  while (ring.moves[end]?.partition === partition) end += 1;
  return start === end ? noMoves : ring.moves.slice(start, end);
}

/** Returns the slots of a partition in replica order: the preference list, joiners included. */
export function slotsOf(ring: SlottedRing, partition: number): Slot[] {
  checkInRing(ring, partition);
  const moves = movesOf(ring, partition);
  const slots: Slot[] = [];
  // Plain loops: this runs for every request.
  for (let replica = 0; replica < ring.table.length; replica += 1) {
    const row = ring.table[replica];
    const device = row && deviceIn(row, partition);
    if (device !== undefined) slots.push({ replica, device, joiner: joinerOf(moves, replica) });
  }
  return slots;
}

/** Without this assertion, an empty list of holders could mean "all holders have everything". */
function checkInRing({ partitions, keyspace }: SlottedRing, partition: number): void {
  assert(partition >= 0 && partition < partitions, `partition ${partition} of ${keyspace}`);
}

function joinerOf(moves: readonly Move[], replica: number): number | null {
  for (const move of moves) if (move.replica === replica) return move.to;
  return null;
}

/**
 * Returns the devices that must have the partition's records: the table's devices in replica order,
 * then joiners, those of new slots last.
 */
export function holdersOf(ring: Ring, partition: number): number[] {
  checkInRing(ring, partition);
  const holders: number[] = [];
  // Plain loops: this runs for every write.
  for (const row of ring.table) {
    const device = deviceIn(row, partition);
    if (device !== undefined) holders.push(device);
  }
  const moves = movesOf(ring, partition);
  for (const { from, to } of moves) if (from !== null) holders.push(to);
  for (const { from, to } of moves) if (from === null) holders.push(to);
  return holders;
}

/** Returns the devices that join the partition in slots that the table does not have yet. */
export function joinersOfNewSlots(ring: Pick<Ring, 'moves'>, partition: number): number[] {
  const moves = movesOf(ring, partition);
  return moves.length === 0 ? [] : moves.flatMap(({ from, to }) => (from === null ? [to] : []));
}

/** Returns the index of the first move with this partition or a higher one. */
function firstMoveAt(moves: readonly Move[], partition: number): number {
  return firstWhere(moves.length, (index) => (moves[index]?.partition ?? 0) >= partition);
}
