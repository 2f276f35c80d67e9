// What a store knows about one partition file without reading its rows. Pure.
import type { PartitionRef } from './data-paths.ts';

/**
 * filling: takes writes but lacks older records.
 * ready: holds all that the device should hold.
 * lost: like filling, but this device has acknowledged some of the records it lacks. (Releases that
 * do not know this state treat such a file as damaged and refill it.)
 */
export const partitionStates = ['filling', 'ready', 'lost'] as const;
export type PartitionState = (typeof partitionStates)[number];

/** What every request checks first. */
export interface PartitionMarks extends TombstoneMarks {
  readonly state: PartitionState;
}

export interface PartitionInfo extends PartitionMarks, PartitionRef {
  /** Random id of this life of the file: new on create and on every adopted copy. */
  readonly incarnation: string;
  /** The highest sequence assigned so far; 0 for an empty file. */
  readonly seq: number;
  /** Records with a value. */
  readonly rows: number;
  /** Records that are deletions. */
  readonly tombstones: number;
  /** Sum of the value lengths, in bytes. */
  readonly bytes: number;
  /** XOR of all row hashes, 16 hex digits: equal for equal content, in any order. */
  readonly digest: string;
}

/** Both are 0 if no tombstone was ever dropped. */
export interface TombstoneMarks {
  /** This device has promised to accept no new record stamped at or below it from a coordinator. */
  readonly barrierMs: number;
  /** Every key that is not here counts as deleted at this ms; 0 if no tombstone was dropped yet. */
  readonly floorMs: number;
}
