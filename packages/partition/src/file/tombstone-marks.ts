// What a partition file knows about tombstones that were dropped, or are about to be. Plain data.

/** Both are 0 if no tombstone was ever dropped. */
export interface TombstoneMarks {
  /** This device has promised to accept no new record stamped at or below it from a coordinator. */
  readonly barrierMs: number;
  /** Every key that is not here counts as deleted at this ms; 0 if no tombstone was dropped yet. */
  readonly floorMs: number;
}
