// The legal steps from one ring version to the next. Each returns a new ring. Pure.
// As in M3DB, a joiner is PROPOSED, then INITIALIZING, then in the table; each step is a version.
import { assert } from '@ringwright/base/assert';
import { movesInFlightMax } from '@ringwright/base/limits';
import { ringAncestorsMax } from '@ringwright/base/limits-rings';
import type { Device } from './device.ts';
import type { Move } from './move.ts';
import { withNewSlots } from './new-slots.ts';
import type { IntervalPartitioner } from './partitioner/partitioner.ts';
import { beginReshape, cancelReshape, finishReshape } from './reshape-ring.ts';
import { hasSameDevices, type Ring, rowLengths, type Table } from './ring.ts';
import { copyTable, deviceIdBytes } from './slot-rows.ts';
import { holdersOf } from './slots-of.ts';

/** A slot that is to change its device. */
export type SlotMove = Pick<Move, 'partition' | 'replica' | 'from' | 'to'>;

/**
 * Returns the next version, in which the slots of `moves` have joiners that take writes. `id` is
 * the ring id of `ring`. Without moves, the version changes only `devices`. Asserts that each move
 * starts at the table's device, ends at a device that holds nothing of the partition, and fits the
 * cap.
 */
export function proposeMoves(
  ring: Ring,
  id: string,
  proposal: {
    readonly moves: readonly SlotMove[];
    readonly devices?: Ring['devices'];
    /** For fewer replicas: the table from which the moves start, with former holders only. */
    readonly cut?: Pick<Ring, 'replicas' | 'table'> | undefined;
  },
): Ring {
  const devices = proposal.devices ?? ring.devices;
  assertDevicesFollow(ring.devices, devices);
  const start = proposal.cut === undefined ? ring : { ...ring, ...proposal.cut };
  if (proposal.cut !== undefined) assertCut(ring, proposal.cut);
  assert(
    ring.moves.length + proposal.moves.length <= movesInFlightMax,
    `${ring.moves.length + proposal.moves.length} moves in flight, at most ${movesInFlightMax}`,
  );
  const added = [...proposal.moves].sort(bySlot).map((move, index): Move => {
    const { partition, replica, from, to } = move;
    assertCanMove(start, devices, move);
    const assignment = ring.nextAssignment + index;
    return { partition, replica, from, to, state: 'PROPOSED', assignment };
  });
  const moves = [...ring.moves, ...added].sort(bySlot);
  assertOneJoinPerDevice(moves);
  return follow(ring, id, {
    devices,
    replicas: start.replicas,
    table:
      deviceIdBytes(devices.length) === deviceIdBytes(ring.devices.length)
        ? start.table
        : copyTable(start.table, devices.length),
    moves,
    touched: [...added, ...changedPartitions(ring.table, start.table)],
    nextAssignment: ring.nextAssignment + added.length,
  });
}

/**
 * Returns the next version, in which the moves with assignment ids in `which` (default: all) are
 * INITIALIZING. Reads and writes go where they went before.
 */
export function initializeMoves(ring: Ring, id: string, which?: ReadonlySet<number>): Ring {
  return follow(ring, id, {
    moves: ring.moves.map((move): Move => {
      const isChosen = which === undefined || which.has(move.assignment);
      return isChosen ? { ...move, state: 'INITIALIZING' } : move;
    }),
  });
}

/**
 * Returns the next version, in which the table names the joiners of the moves with assignment ids
 * in `which` (default: all that are INITIALIZING), and those moves are gone. New slots enter the
 * table together, so `which` has all of their moves or none.
 */
export function finalizeMoves(ring: Ring, id: string, which?: ReadonlySet<number>): Ring {
  const finalized = chosen(
    ring,
    which ?? new Set(ring.moves.filter(isInitializing).map(({ assignment }) => assignment)),
  );
  if (ring.reshape?.kind === 'to') {
    assert(finalized.length === ring.moves.length, 'children come together');
    assert(finalized.every(isInitializing), 'a child has not been copied');
    return follow(ring, id, finishReshape(ring));
  }
  const table = copyTable(ring.table, ring.devices.length);
  for (const move of finalized) {
    assert(
      isInitializing(move),
      `assignment ${move.assignment} is ${move.state}, not INITIALIZING`,
    );
    if (move.from === null) continue;
    const row = table[move.replica];
    assert(row?.[move.partition] === move.from, `assignment ${move.assignment} starts elsewhere`);
    row[move.partition] = move.to;
  }
  assertAllNewOrNone(ring, finalized);
  const grown = withNewSlots(ring, table, finalized);
  return follow(ring, id, { ...grown, moves: without(ring.moves, finalized), touched: finalized });
}

/** Returns the next version without the moves with assignment ids in `which`: their slots stay. */
export function cancelMoves(ring: Ring, id: string, which: ReadonlySet<number>): Ring {
  const cancelled = chosen(ring, which);
  assertAllNewOrNone(ring, cancelled);
  if (ring.reshape?.kind === 'to') return follow(ring, id, cancelReshape(ring));
  return follow(ring, id, { moves: without(ring.moves, cancelled), touched: cancelled });
}

/**
 * Returns the next version, in which a split or merge of partitions begins, or is complete at once
 * where no server has loaded the ring. Asserts as beginReshape does.
 */
export function reshapeRing(
  ring: Ring,
  id: string,
  options: {
    readonly partitioner: IntervalPartitioner;
    readonly devices?: Ring['devices'];
    readonly direct?: boolean;
  },
): Ring {
  const devices = options.devices ?? ring.devices;
  assertDevicesFollow(ring.devices, devices);
  const step = beginReshape({ ...ring, devices }, options.partitioner);
  if (options.direct !== true) {
    assert(step.moves.length <= movesInFlightMax, `${step.moves.length} moves in flight`);
    return follow(ring, id, { ...step, devices });
  }
  const finished = finishReshape({ ...ring, ...step, devices });
  return follow(ring, id, { ...finished, devices, reshape: undefined, touched: step.touched });
}

/** Returns the next version with another table at once: for rings that no server has loaded. */
export function directRing(
  ring: Ring,
  id: string,
  options: {
    readonly table: Table;
    readonly devices?: Ring['devices'];
    /** Replica count of the wanted table, if it differs. */
    readonly replicas?: number | undefined;
  },
): Ring {
  assert(ring.moves.length === 0, `${ring.moves.length} moves in flight: finalize or cancel first`);
  const devices = options.devices ?? ring.devices;
  assertDevicesFollow(ring.devices, devices);
  const table = copyTable(options.table, devices.length);
  const replicas = options.replicas ?? ring.replicas;
  assertRowLengths(table, ring.partitions, replicas);
  const touched = changedPartitions(ring.table, table);
  return follow(ring, id, { devices, replicas, table, touched });
}

function changedPartitions(before: Table, after: Table): { readonly partition: number }[] {
  if (before === after) return [];
  const touched: { partition: number }[] = [];
  for (let partition = 0; partition < (after[0]?.length ?? 0); partition += 1) {
    if (!hasSameDevices(before, after, partition)) touched.push({ partition });
  }
  return touched;
}

function assertAllNewOrNone(ring: Ring, moves: readonly Move[]): void {
  const isNew = ({ from }: Move): boolean => from === null;
  const [named, all] = [moves.filter(isNew).length, ring.moves.filter(isNew).length];
  assert(named === 0 || named === all, `${named} of ${all} new slots: they come and go together`);
}

function assertCut(ring: Ring, cut: Pick<Ring, 'replicas' | 'table'>): void {
  assert(ring.moves.length === 0, `${ring.moves.length} moves in flight: finalize or cancel first`);
  assertRowLengths(cut.table, ring.partitions, cut.replicas);
  for (const [replica, row] of cut.table.entries()) {
    for (let partition = 0; partition < row.length; partition += 1) {
      const wasHeld = ring.table.some((before) => before[partition] === row[partition]);
      assert(wasHeld, `slot (${partition}, ${replica}) of the cut table was not held before`);
    }
  }
}

function assertRowLengths(table: Table, partitions: number, replicas: number): void {
  const [actual, wanted] = [table.map((row) => row.length), rowLengths(partitions, replicas)];
  assert(
    actual.join() === wanted.join(),
    `rows of ${actual.join()} slots, expected ${wanted.join()}`,
  );
}

interface Step
  extends Partial<
    Pick<Ring, 'devices' | 'replicas' | 'table' | 'moves' | 'nextAssignment'> &
      Pick<Ring, 'partitioner' | 'partitions' | 'reshape'>
  > {
  /** Partitions whose reads or writes go elsewhere from now on: their minVersion rises. */
  readonly touched?: readonly { readonly partition: number }[];
}

function follow(ring: Ring, id: string, step: Step): Ring {
  assert(/^[0-9a-f]{64}$/.test(id), `ring id ${JSON.stringify(id)} is not 64 hex digits`);
  const version = ring.version + 1;
  const { touched = [], ...changed } = step;
  const minVersions = new Uint32Array(step.partitions ?? ring.partitions);
  minVersions.set(ring.minVersions);
  for (const { partition } of touched) minVersions[partition] = version;
  return { ...ring, ...changed, version, parent: id, ...ancestorsAfter(ring), minVersions };
}

/** Returns the ancestors that the next version records; `ring` is its parent. */
export function ancestorsAfter({ parent, ancestors = [] }: Ring): Pick<Ring, 'ancestors'> {
  return parent === null ? {} : { ancestors: [parent, ...ancestors].slice(0, ringAncestorsMax) };
}

function bySlot(
  a: Pick<SlotMove, 'partition' | 'replica'>,
  b: Pick<SlotMove, 'partition' | 'replica'>,
): number {
  return a.partition - b.partition || a.replica - b.replica;
}

function isInitializing({ state }: Move): boolean {
  return state === 'INITIALIZING';
}

function chosen(ring: Ring, which: ReadonlySet<number>): Move[] {
  const moves = ring.moves.filter(({ assignment }) => which.has(assignment));
  assert(moves.length === which.size, `${which.size} assignments named, ${moves.length} in flight`);
  return moves;
}

function without(moves: readonly Move[], ended: readonly Move[]): Move[] {
  const dropped = new Set(ended);
  return moves.filter((move) => !dropped.has(move));
}

function assertCanMove(ring: Ring, devices: Ring['devices'], move: SlotMove): void {
  const { partition, replica, from, to } = move;
  const device = ring.table[replica]?.[partition] ?? null;
  assert(device !== null || from === null, `no slot (${partition}, ${replica})`);
  assert(device === from, `slot (${partition}, ${replica}) is on device ${device}, not ${from}`);
  assert((devices[to] ?? null) !== null, `no device ${to} to move partition ${partition} to`);
  const holders = holdersOf(ring, partition);
  assert(!holders.includes(to), `device ${to} holds partition ${partition} already`);
}

function assertOneJoinPerDevice(moves: readonly Move[]): void {
  for (let index = 1; index < moves.length; index += 1) {
    const move = moves[index];
    for (let before = index - 1; before >= 0; before -= 1) {
      const other = moves[before];
      if (move === undefined || other?.partition !== move.partition) break;
      assert(
        other.replica !== move.replica,
        `two moves of slot (${move.partition}, ${move.replica})`,
      );
      assert(other.to !== move.to, `device ${move.to} joins partition ${move.partition} twice`);
    }
  }
}

/** Ids are indexes forever: the list never gets shorter, and a hole stays a hole. */
function assertDevicesFollow(before: Ring['devices'], after: readonly (Device | null)[]): void {
  assert(after.length >= before.length, `${after.length} devices follow ${before.length}`);
  for (const [id, device] of before.entries()) {
    assert(device !== null || after[id] === null, `hole ${id} may not be filled again`);
  }
}
