// A move: one slot changing device. It exists while both devices count for the slot. Pure data.

/**
 * PROPOSED: the joiner takes writes. INITIALIZING: it copies too. AVAILABLE: the table names it and
 * the move is gone.
 */
export type MoveState = 'PROPOSED' | 'INITIALIZING';

export interface Move {
  readonly partition: number;
  /** Replica index: the row of the slot. */
  readonly replica: number;
  /**
   * Device that holds the slot until the move is finalized. Null: the slot is new, the table has it
   * only when all such moves are finalized, and until then the joiner counts for nothing.
   */
  readonly from: number | null;
  /** Device that joins. */
  readonly to: number;
  readonly state: MoveState;
  /** Assignment id, never reused in the life of a ring (ABA guard, EventQL). */
  readonly assignment: number;
}
