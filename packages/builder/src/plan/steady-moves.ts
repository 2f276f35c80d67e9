// Chooses moves of a wave so that no device ever holds more than both before and after the change.
// Pure.
import { loadsOf, type Placement } from '../placement/placement.ts';
import type { TierTree } from '../state/tier-tree.ts';
import type { PlannedMove } from './plan.ts';

interface SteadyLimits<Move> {
  /** By device id: slots that it may gain beyond those that it gives away. */
  readonly room: Int32Array;
  readonly most: number;
  /** Whether the move is made in any case, as far as `most` permits. */
  readonly isUrgent: (move: Move) => boolean;
}

/** Returns by device id the net gain of all moves; 0 for a net loss. */
export function roomFor(waves: readonly (readonly PlannedMove[])[]): Int32Array {
  const last = waves.flat().reduce((most, { from, to }) => Math.max(most, from ?? 0, to), 0);
  const gains = new Int32Array(last + 1);
  for (const moves of waves) makeMoves(gains, moves);
  return gains.map((gain) => Math.max(0, gain));
}

/** Returns by device id how many more slots it has in `goal` than now; 0 when it has fewer. */
export function roomBetween(now: Placement, goal: Placement, tree: TierTree): Int32Array {
  const [loads, wanted] = [loadsOf(now, tree), loadsOf(goal, tree)];
  const room = new Int32Array(tree.leafOfDevice.length);
  tree.deviceIds.forEach((id, leaf) => {
    room[id] = Math.max(0, wanted[tree.firstLeaf + leaf]! - loads[tree.firstLeaf + leaf]!);
  });
  return room;
}

/**
 * Returns as many of the moves as have room, in their order; if there are too many, evenly from all
 * over the ring. A move without room waits until its target device gives a slot away. Devices that
 * wait for each other in a cycle exchange slots. The result is not always the maximum.
 */
export function steadyMoves<Move extends PlannedMove>(
  moves: readonly Move[],
  { room, most, isUrgent }: SteadyLimits<Move>,
): readonly Move[] {
  const capped = capMoves(moves, most, isUrgent);
  if (findsRoom(capped, room)) return capped;
  const urgent = capped.filter(isUrgent);
  const search: Search<Move> = {
    room: room.slice(),
    waiting: new Map(),
    taken: new Set(urgent),
    most,
  };
  for (const { from, to } of urgent) shift(search.room, from, to);
  const others = new Set([...capped, ...moves]).difference(search.taken);
  for (const move of others) {
    if (search.taken.size >= most) break;
    offer(search, move);
  }
  exchangeInRings(search);
  return moves.filter((move) => search.taken.has(move));
}

/** Like steadyMoves; but if no move has room, all moves are made, up to `most`. */
export function movesOfWave<Move extends PlannedMove>(
  moves: readonly Move[],
  limits: SteadyLimits<Move>,
): readonly Move[] {
  const steady = steadyMoves(moves, limits);
  return steady.length > 0 ? steady : capMoves(moves, limits.most, limits.isUrgent);
}

/** Arranges the moves in waves of one slot per partition, and keeps each partition's order. */
export function steadyWaves(waves: readonly (readonly PlannedMove[])[]): PlannedMove[][] {
  let left = waves.flat();
  const ordered: PlannedMove[][] = [];
  while (left.length > 0) {
    const seen = new Set<number>();
    const open = left.filter(({ partition }) => !seen.has(partition) && seen.add(partition));
    const limits = { room: roomFor([left]), most: Infinity, isUrgent: () => false };
    const moves = new Set(movesOfWave(open, limits));
    ordered.push([...moves]);
    left = left.filter((move) => !moves.has(move));
  }
  return ordered;
}

function findsRoom(moves: readonly PlannedMove[], room: Int32Array): boolean {
  const gains = new Int32Array(room.length);
  makeMoves(gains, moves);
  return gains.every((gain, id) => gain <= room[id]!);
}

function makeMoves(gains: Int32Array, moves: readonly PlannedMove[]): void {
  for (const { from, to } of moves) {
    gains[to]! += 1;
    if (from !== null) gains[from]! -= 1;
  }
}

interface Search<Move> {
  readonly room: Int32Array;
  /** By device without room: the moves to it that wait. */
  readonly waiting: Map<number, Move[]>;
  readonly taken: Set<Move>;
  readonly most: number;
}

/** Takes the move if its target has room, then moves that waited for the device it leaves. */
function offer<Move extends PlannedMove>(search: Search<Move>, first: Move): void {
  const { room, waiting, taken, most } = search;
  for (let move: Move | undefined = first; move !== undefined && taken.size < most; ) {
    const { from, to }: PlannedMove = move;
    if (room[to]! <= 0) {
      const list = waiting.get(to) ?? [];
      waiting.set(to, list);
      list.push(move);
      return;
    }
    shift(room, from, to);
    taken.add(move);
    move = from !== null && room[from]! > 0 ? waiting.get(from)?.pop() : undefined;
  }
}

function shift(room: Int32Array, from: number | null, to: number): void {
  room[to]! -= 1;
  if (from !== null) room[from]! += 1;
}

/** Follows waiting moves from device to device, and takes cycles: they need no room. */
function exchangeInRings<Move extends PlannedMove>({ waiting, taken, most }: Search<Move>): void {
  for (const start of [...waiting.keys()]) {
    const walk: Move[] = [];
    const places = new Map([[start, 0]]);
    for (let device = start; taken.size < most; ) {
      const move = waiting.get(device)?.pop();
      if (move === undefined || move.from === null) {
        const undone = walk.pop();
        if (undone === undefined) break;
        places.delete(device);
        device = undone.to;
        continue;
      }
      walk.push(move);
      device = move.from;
      const place = places.get(device);
      if (place === undefined) {
        places.set(device, walk.length);
        continue;
      }
      const ring = walk.splice(place);
      for (const { from } of ring) if (from !== device) places.delete(from!);
      if (taken.size + ring.length <= most) for (const one of ring) taken.add(one);
    }
  }
}

/**
 * Returns at most `most` of the moves, in order: those that `first` selects, then the others evenly
 * from all over the ring, so that every device gets its part of this version.
 */
export function capMoves<Move extends PlannedMove>(
  moves: readonly Move[],
  most: number,
  first: (move: Move) => boolean,
): readonly Move[] {
  if (moves.length <= most) return moves;
  const urgent = moves.filter(first);
  if (urgent.length >= most) return urgent.slice(0, most);
  const room = most - urgent.length;
  const others = moves.length - urgent.length;
  let seen = 0;
  return moves.filter((move) => {
    if (first(move)) return true;
    seen += 1;
    return Math.floor((seen * room) / others) > Math.floor(((seen - 1) * room) / others);
  });
}
