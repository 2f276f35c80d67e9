// A plan: what the next version would change, as data. Nothing has happened yet.
import type { Finding } from '@ringwright/base/finding';
import type { Ring, Table } from '@ringwright/ring/ring';
import type { Optimum } from './plan-optimum.ts';

export interface PlannedMove {
  readonly partition: number;
  readonly replica: number;
  /** Null: the slot is new, as the number of replicas grows. */
  readonly from: number | null;
  readonly to: number;
}

/** Moves that come after those of a version, wave by wave: one slot of a partition at a time. */
export type LaterWaves = readonly (readonly PlannedMove[])[];

export interface DevicePlan {
  readonly id: number;
  /** Slots held now, and after. */
  readonly before: number;
  readonly after: number;
  readonly slotsIn: number;
  readonly slotsOut: number;
  /** Exact share in slots, a real number; `after` is its floor or ceiling. */
  readonly share: number;
}

export interface Plan {
  readonly ring: string;
  /** Version the plan would become: head + 1, or 1. */
  readonly version: number;
  /** Ring id of the head the plan is based on; null for the first version. */
  readonly parent: string | null;
  /** The whole table wanted after this version's moves. */
  readonly target: Table;
  /** Fewer replicas than the head has: the table after the cut, which `moves` start from. */
  readonly cut: Pick<Ring, 'replicas' | 'table'> | null;
  /** Moves beyond the fewest, later versions included: what even bytes were worth. */
  readonly swapMoves: number;
  /** Slots whose device changes, sorted by partition, then replica; empty for the first version. */
  readonly moves: readonly PlannedMove[];
  /** No ring with the guaranteed balance can be reached with fewer moves than this. */
  readonly moveLowerBound: number;
  /** The fewest moves there can be, later versions included; null when that is not proved. */
  readonly optimum: Optimum | null;
  /** Partitions of which more than one slot moves at once (only for removed devices). */
  readonly partitionsMovingTwice: number;
  /**
   * What is left for later versions: one slot of a partition per version, caps, min_part_hours. A
   * rollout carries out these moves and no others; beyond laterMovesMax they are not listed.
   */
  readonly later: LaterWaves;
  /** Their number, with those that are not listed. */
  readonly movesLeft: number;
  readonly devices: readonly DevicePlan[];
  readonly warnings: readonly Finding[];
  /** SHA-256 (hex) over the head's id, the builder state and all moves: `commit --plan DIGEST`. */
  readonly digest: string;
}
