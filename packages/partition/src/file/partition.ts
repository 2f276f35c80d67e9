// What a store keeps in memory for one partition it holds, whether its file is open or not.
import type { CodedError } from '@ringwright/base/coded-error';
import type { SeenFiles } from './file-identity.ts';
import type { MarksChange } from './marks-change.ts';
import type { PartitionFile } from './partition-file.ts';
import type { PartitionInfo } from './partition-info.ts';
import { damageError, isDamage } from './sqlite-errors.ts';

/** dirtySince of a partition whose writes are all in its synced file. */
export const clean = Number.POSITIVE_INFINITY;

/** Mutable: owned by the store, on one thread. */
export interface Partition {
  readonly keyspace: string;
  readonly partition: number;
  /** From create to drop, over all adopted copies. Each frame of the log names it. */
  life: string;
  incarnation: string;
  file: PartitionFile | null;
  /** What its names led to when it was opened or closed; null before the first time. */
  seen: SeenFiles | null;
  /**
   * On the disk. None is made before there is something to store: see EmptyPartitions. What is
   * being filled has its rows in memory and in the log even then, and `file` is memory.
   */
  hasFile: boolean;
  /** A power loss may take its folder away: the log has all of it, and EmptyPartitions its name. */
  isNew: boolean;
  infoWhenClosed: PartitionInfo | null;
  /** What the log says of the closed file, and the file not yet: it gets that when it is opened. */
  unstored: MarksChange | null;
  /** While above 0 the file must not be closed: see `pinned`. */
  pins: number;
  /** While above 0 another process reads the file: it is not checkpointed before it must be. */
  held: number;
  /** A checkpoint was due meanwhile: it comes when nobody holds the file any more. */
  isCheckpointDue: boolean;
  /** Turn counter of the last use, for closing the least recently used. */
  usedAt: number;
  /** Number of the oldest log segment with writes that no checkpoint has synced; or `clean`. */
  dirtySince: number;
  /** The oldest segment that a copy will need when it takes the place of the file; or `clean`. */
  keptSince: number;
  /** The segment whose dictionary has this partition, and its index there. */
  logSegment: number;
  logIndex: number;
  /** Why the file cannot be trusted. */
  damage: CodedError | null;
  /** Dropped: writes still in the log must not be applied. */
  gone: boolean;
  highestMs: number;
  /** Since they were last counted: see storeRequests. */
  requests: number;
  /** Of late, a second. */
  requestRate: number;
  /** For so long they have been counted. */
  requestsMs: number;
  /** This process has dropped all that this floor of this file stands for; null: not looked yet. */
  dropped: { readonly incarnation: string; readonly floorMs: number } | null;
}

/** `life` is filled in when the file is opened for the first time. */
export function newPartition(place: {
  keyspace: string;
  partition: number;
  incarnation: string;
}): Partition {
  return {
    keyspace: place.keyspace,
    partition: place.partition,
    incarnation: place.incarnation,
    life: '',
    file: null,
    seen: null,
    hasFile: true,
    isNew: false,
    infoWhenClosed: null,
    unstored: null,
    pins: 0,
    held: 0,
    isCheckpointDue: false,
    usedAt: 0,
    dirtySince: clean,
    keptSince: clean,
    logSegment: -1,
    logIndex: -1,
    damage: null,
    gone: false,
    highestMs: 0,
    requests: 0,
    requestRate: 0,
    requestsMs: 0,
    dropped: null,
  };
}

/** Its file stays open until the block is left that has this in use. */
export function pinned(partition: Partition): Disposable {
  partition.pins += 1;
  return {
    [Symbol.dispose]: () => {
      partition.pins -= 1;
    },
  };
}

/** It was never given anything, or nothing that is not in its state. */
export function isEmpty({ hasFile, file }: Partition): boolean {
  return !hasFile && file === null;
}

/** For an error of its file; throws any other. */
export function noteDamage(partition: Partition, error: unknown): CodedError {
  if (!isDamage(error)) throw error;
  partition.damage ??= damageError(error, partition);
  return partition.damage;
}

/** A checkpoint has synced all that came before this segment of the log. */
export function noteSynced(partition: Partition, segment = clean): void {
  if (!partition.isNew) partition.dirtySince = Math.max(partition.dirtySince, segment);
}
