// A failure on paper: what a ring loses with some devices, and what the survivors take over. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Ring } from '@ringwright/ring/ring';
import type { PlannedMove } from '../plan/plan.ts';
import { slotsPerDevice } from '../plan/plan-devices.ts';
import { planVersion } from '../plan/plan-version.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { type Availability, availabilityOf } from './availability.ts';

interface SurvivorLoad {
  readonly id: number;
  readonly before: number;
  /** Slots that it takes over when the lost devices are removed. */
  readonly slotsIn: number;
  /** Lost slots of which it can send a copy. */
  readonly sources: number;
}

export interface Drill {
  readonly gone: readonly number[];
  readonly availability: Availability;
  /** The remaining devices. Those with another replica of a lost slot share the work of sending. */
  readonly survivors: readonly SurvivorLoad[];
  /** Most that a survivor would send, relative to an even share among the senders: 1 is perfect. */
  readonly worstSource: number;
  /** Why the survivors cannot take over; null when they can. */
  readonly unrecoverable: { readonly code: string; readonly message: string } | null;
  /** Moves of one removal of the lost devices: all waves, and moves for other reasons included. */
  readonly recoveryMoves: number;
}

/**
 * Returns what happens when `gone` fail at once, and what `remove` would then do. Moves in flight
 * count as they are for reads and writes, and as cancelled for the recovery.
 */
export function drillRing(ring: Ring, state: BuilderState, gone: readonly number[]): Drill {
  const isGone = new Uint8Array(ring.devices.length);
  for (const id of gone) isGone[id] = 1;
  const before = slotsPerDevice(ring.table, ring.devices.length);
  const sources = sourcesOf(ring, isGone);
  const recovery = recoveryOf(ring, state, isGone);
  const slotsIn = new Int32Array(ring.devices.length);
  for (const { to } of recovery.moves) slotsIn[to]! += 1;
  const survivors = ring.devices.flatMap((device) => {
    if (device === null || isGone[device.id] === 1) return [];
    const { id } = device;
    return [{ id, before: before[id]!, slotsIn: slotsIn[id]!, sources: sources[id]! }];
  });
  return {
    gone,
    availability: availabilityOf(ring, isGone),
    survivors,
    worstSource: worstOf(survivors),
    unrecoverable: recovery.refusal,
    recoveryMoves: recovery.count,
  };
}

/** Returns by device the number of lost slots of which it holds another replica. */
function sourcesOf({ table, partitions }: Ring, isGone: Uint8Array): Int32Array {
  const sources = new Int32Array(isGone.length);
  for (let partition = 0; partition < partitions; partition += 1) {
    let lost = 0;
    for (const row of table) if (isGone[row[partition] ?? -1] === 1) lost += 1;
    if (lost === 0) continue;
    for (const row of table) {
      const id = row[partition];
      if (id !== undefined && isGone[id] !== 1) sources[id]! += lost;
    }
  }
  return sources;
}

interface Recovery {
  /** Moves of all versions, as far as the first version lists them. */
  readonly moves: readonly PlannedMove[];
  readonly count: number;
  readonly refusal: Drill['unrecoverable'];
}

function recoveryOf(ring: Ring, state: BuilderState, isGone: Uint8Array): Recovery {
  const devices = state.devices.map((device) =>
    device !== null && isGone[device.id] === 1 ? { ...device, state: 'removed' as const } : device,
  );
  try {
    const { moves, later, movesLeft } = planVersion({
      head: { ...ring, moves: [] },
      headId: ring.parent ?? '',
      state: { ...state, devices },
      direct: true,
    });
    const count = moves.length + movesLeft;
    return { moves: [...moves, ...later.flat()], count, refusal: null };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { moves: [], count: 0, refusal: { code: error.code, message: error.message } };
  }
}

function worstOf(survivors: readonly SurvivorLoad[]): number {
  const sending = survivors.filter(({ sources }) => sources > 0);
  const total = sending.reduce((sum, { sources }) => sum + sources, 0);
  const most = sending.reduce((worst, { sources }) => Math.max(worst, sources), 0);
  return total === 0 ? 0 : (most * sending.length) / total;
}
