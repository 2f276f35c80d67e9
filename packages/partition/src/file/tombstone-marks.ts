// What a partition file knows of tombstones that went, or are to go. Plain data.

/** Both are 0 where none ever went. */
export interface TombstoneMarks {
  /** This device has promised to take no new record stamped at or below it from a coordinator. */
  readonly barrierMs: number;
  /** Every key that is not here counts as deleted at this ms; 0 while no tombstone was dropped. */
  readonly floorMs: number;
}
