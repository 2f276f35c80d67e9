// A plan: what the next version would change, as data. Nothing has happened yet.
import type { Finding } from '@ringwright/base/finding';
import type { SlotMove } from '@ringwright/ring/advance-ring';
import type { Ring, Table } from '@ringwright/ring/ring';
import type { BuilderState } from '../state/builder-state.ts';
import type { Optimum } from './plan-optimum.ts';

export type PlannedMove = SlotMove;

/** Moves after those of a version, wave by wave: at most one slot of a partition per wave. */
export type LaterWaves = readonly (readonly PlannedMove[])[];

export interface DevicePlan {
  readonly id: number;
  /** Slots held now, and after this version. */
  readonly before: number;
  readonly after: number;
  readonly slotsIn: number;
  readonly slotsOut: number;
  /** Exact share in slots, a real number; `after` is its floor or ceiling. */
  readonly share: number;
}

/** What a plan is based on. */
export interface PlanBasis {
  /** `headId` is the ring id of `head`. */
  readonly head: Ring | null;
  readonly headId: string | null;
  readonly state: BuilderState;
  /** Go straight to the final table, without the cap on moves: no server has loaded the ring. */
  readonly direct?: boolean;
}

export interface Plan {
  readonly ring: string;
  /** Version that the plan would become: head + 1, or 1. */
  readonly version: number;
  /** Ring id of the head that the plan is based on; null for the first version. */
  readonly parent: string | null;
  /** The whole table after this version's moves. */
  readonly target: Table;
  /** When replicas decrease: the table after the cut, from which `moves` start. */
  readonly cut: Pick<Ring, 'replicas' | 'table'> | null;
  /** Moves beyond the minimum that even out bytes, later versions included. */
  readonly swapMoves: number;
  /** Slots whose device changes, sorted by partition, then replica; empty for the first version. */
  readonly moves: readonly PlannedMove[];
  /** No ring with the guaranteed balance can be reached with fewer moves than this. */
  readonly moveLowerBound: number;
  /** The proven minimum of moves, later versions included; null without a proof. */
  readonly optimum: Optimum | null;
  /** Partitions of which more than one slot moves at once (only for removed devices). */
  readonly partitionsMovingTwice: number;
  /**
   * Moves left for later versions, because of one slot per partition and version, caps, or
   * min_part_hours. A rollout carries out these moves and no others; beyond laterMovesMax they are
   * not listed.
   */
  readonly later: LaterWaves;
  /** Number of moves left, including those that are not listed. */
  readonly movesLeft: number;
  readonly devices: readonly DevicePlan[];
  readonly warnings: readonly Finding[];
  /** SHA-256 (hex) over the head's id, the builder state and all moves: `commit --plan DIGEST`. */
  readonly digest: string;
}
