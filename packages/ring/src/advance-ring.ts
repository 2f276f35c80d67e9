// The legal ways from one ring version to the next: each returns a new ring. Pure.
// After M3DB: a joiner is PROPOSED, then INITIALIZING, then in the table, a version per step.
import { assert } from '@ringwright/base/assert';
import { movesInFlightMax } from '@ringwright/base/limits';
import type { Device } from './device.ts';
import type { Move } from './move.ts';
import type { Ring, Table } from './ring.ts';
import { copyTable, deviceIdBytes, deviceOf } from './slot-rows.ts';
import { holdersOf } from './slots-of.ts';

/** A slot that shall change its device. */
export type SlotMove = Pick<Move, 'partition' | 'replica' | 'from' | 'to'>;

/**
 * The next version, in which the slots of `moves` have joiners that take writes. `id` is the ring
 * id of `ring`. Without moves it is a version that changes only `devices`. Asserts that each move
 * starts at the table's device, ends at one that holds nothing of the partition, and fits the cap.
 */
export function proposeMoves(
  ring: Ring,
  id: string,
  wanted: { readonly moves: readonly SlotMove[]; readonly devices?: Ring['devices'] },
): Ring {
  const devices = wanted.devices ?? ring.devices;
  assertDevicesFollow(ring.devices, devices);
  assert(
    ring.moves.length + wanted.moves.length <= movesInFlightMax,
    `${ring.moves.length + wanted.moves.length} moves in flight, at most ${movesInFlightMax}`,
  );
  const added = [...wanted.moves].sort(bySlot).map((move, index): Move => {
    const { partition, replica, from, to } = move;
    assertCanMove(ring, devices, move);
    const assignment = ring.nextAssignment + index;
    return { partition, replica, from, to, state: 'PROPOSED', assignment };
  });
  const moves = [...ring.moves, ...added].sort(bySlot);
  assertOneJoinPerDevice(moves);
  return follow(ring, id, {
    devices,
    table:
      deviceIdBytes(devices.length) === deviceIdBytes(ring.devices.length)
        ? ring.table
        : copyTable(ring.table, devices.length),
    moves,
    touched: added,
    nextAssignment: ring.nextAssignment + added.length,
  });
}

/** The next version, in which every PROPOSED move is INITIALIZING. Nobody's reads or writes change. */
export function initializeMoves(ring: Ring, id: string): Ring {
  return follow(ring, id, {
    moves: ring.moves.map((move): Move => ({ ...move, state: 'INITIALIZING' })),
  });
}

/**
 * The next version, in which the table names the joiners of the moves whose assignment ids are in
 * `which` (default: all that are INITIALIZING), and those moves are gone.
 */
export function finalizeMoves(ring: Ring, id: string, which?: ReadonlySet<number>): Ring {
  const done = chosen(
    ring,
    which ?? new Set(ring.moves.filter(isInitializing).map(({ assignment }) => assignment)),
  );
  const table = copyTable(ring.table, ring.devices.length);
  for (const move of done) {
    assert(
      isInitializing(move),
      `assignment ${move.assignment} is ${move.state}, not INITIALIZING`,
    );
    const row = table[move.replica];
    assert(row?.[move.partition] === move.from, `assignment ${move.assignment} starts elsewhere`);
    row[move.partition] = move.to;
  }
  return follow(ring, id, { table, moves: without(ring.moves, done), touched: done });
}

/** The next version without the moves whose assignment ids are in `which`: their slots stay. */
export function cancelMoves(ring: Ring, id: string, which: ReadonlySet<number>): Ring {
  const gone = chosen(ring, which);
  return follow(ring, id, { moves: without(ring.moves, gone), touched: gone });
}

/** The next version with another table at once: for rings that no server has loaded. */
export function directRing(
  ring: Ring,
  id: string,
  wanted: { readonly table: Table; readonly devices?: Ring['devices'] },
): Ring {
  assert(ring.moves.length === 0, `${ring.moves.length} moves in flight: finalize or cancel first`);
  const devices = wanted.devices ?? ring.devices;
  assertDevicesFollow(ring.devices, devices);
  const table = copyTable(wanted.table, devices.length);
  assert(table.length === ring.table.length, `${table.length} rows, not ${ring.table.length}`);
  const touched: { partition: number }[] = [];
  for (const [replica, row] of table.entries()) {
    const before = ring.table[replica];
    assert(before?.length === row.length, `row ${replica} has another length`);
    for (let partition = 0; partition < row.length; partition += 1) {
      if (row[partition] !== before[partition]) touched.push({ partition });
    }
  }
  return follow(ring, id, { devices, table, touched });
}

interface Step extends Partial<Pick<Ring, 'devices' | 'table' | 'moves' | 'nextAssignment'>> {
  /** Partitions of which reads or writes go elsewhere from now on: their minVersion rises. */
  readonly touched?: readonly { readonly partition: number }[];
}

function follow(ring: Ring, id: string, step: Step): Ring {
  assert(/^[0-9a-f]{64}$/.test(id), `ring id ${JSON.stringify(id)} is not 64 hex digits`);
  const version = ring.version + 1;
  const { touched = [], ...changed } = step;
  const minVersions = ring.minVersions.slice();
  for (const { partition } of touched) minVersions[partition] = version;
  return { ...ring, ...changed, version, parent: id, minVersions };
}

function bySlot(a: SlotMove, b: SlotMove): number {
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

function without(moves: readonly Move[], gone: readonly Move[]): Move[] {
  const dropped = new Set(gone);
  return moves.filter((move) => !dropped.has(move));
}

function assertCanMove(ring: Ring, devices: Ring['devices'], move: SlotMove): void {
  const { partition, replica, from, to } = move;
  const device = deviceOf(ring.table, replica, partition);
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

/** Ids are indexes for ever: the list never gets shorter and a hole stays one. */
function assertDevicesFollow(before: Ring['devices'], after: readonly (Device | null)[]): void {
  assert(after.length >= before.length, `${after.length} devices follow ${before.length}`);
  for (const [id, device] of before.entries()) {
    assert(device !== null || after[id] === null, `hole ${id} may not be filled again`);
  }
}
