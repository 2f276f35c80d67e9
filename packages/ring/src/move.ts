// A move: one slot changing its device. It exists while both devices count for the slot. Pure data.

/**
 * PROPOSED: the joiner takes writes. INITIALIZING: it also copies. AVAILABLE: the table names the
 * joiner, and the move is gone.
 */
export type MoveState = 'PROPOSED' | 'INITIALIZING';

export interface Move {
  readonly partition: number;
  /** Replica index: the row of the slot. */
  readonly replica: number;
  /**
   * Device that holds the slot until the move is finalized. Null for a new slot: it enters the
   * table when all such moves are finalized, and until then the joiner does not count.
   */
  readonly from: number | null;
  /** The joiner. */
  readonly to: number;
  readonly state: MoveState;
  /** Assignment id, never reused in the life of a ring (ABA guard, EventQL). */
  readonly assignment: number;
}
