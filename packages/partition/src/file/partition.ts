// In-memory state of one partition that a store holds, whether its file is open or not.
import type { CodedError } from '@ringwright/base/coded-error';
import type { PartitionRef } from './data-paths.ts';
import type { FileIdentities } from './file-identity.ts';
import type { MarksChange } from './marks-change.ts';
import type { PartitionFile } from './partition-file.ts';
import type { PartitionInfo } from './partition-info.ts';
import { damageError, isDamage, withFileName } from './sqlite-errors.ts';

/** dirtySegment of a partition whose writes are all in its synced file. */
export const noSegment = Number.POSITIVE_INFINITY;

/** What a partition file surely has on disk. */
export interface SyncedFile {
  readonly incarnation: string;
  readonly seq: number;
}

/** Mutable: owned by the store, on one thread. */
export interface Partition extends PartitionRef {
  /** From create to drop, over all adopted copies. Each log frame names it. */
  life: string;
  incarnation: string;
  file: PartitionFile | null;
  /** The files its names led to when it was opened or closed; null before the first time. */
  fileIdentities: FileIdentities | null;
  /**
   * Whether the partition has a file on disk. None is created before there is something to store:
   * see EmptyPartitions. While a partition is filled without one, its rows are in memory and in the
   * log, and `file` is a database in memory.
   */
  hasFile: boolean;
  /** A power loss may remove its folder: the log has everything, and EmptyPartitions its line. */
  isNew: boolean;
  infoWhenClosed: PartitionInfo | null;
  /** The incarnation whose file was closed without a record that expires; null: unknown. */
  closedWithoutExpiry: string | null;
  /** Changes in the log that the closed file lacks; it gets them when it is opened. */
  pendingMarks: MarksChange | null;
  /** While above 0 the file must not be closed: see `pinned`. */
  pinCount: number;
  /** While above 0 another process reads the file: checkpoints wait as long as they can. */
  holdCount: number;
  /** A checkpoint became due during a hold; it runs when the last hold ends. */
  isCheckpointDue: boolean;
  /** Turn counter of the last use, to close the least recently used file. */
  usedAt: number;
  /** The oldest log segment with writes that no checkpoint has synced; or `noSegment`. */
  dirtySegment: number;
  /** What a checkpoint has synced, if it is known: see writeCheckpoints. */
  synced: SyncedFile | null;
  /** The oldest segment that a copy will need when it replaces the file; or `noSegment`. */
  neededSegment: number;
  /** The segment whose dictionary defines this partition, and its index there. */
  logSegment: number;
  logIndex: number;
  /** Why the file cannot be trusted. */
  damage: CodedError | null;
  /** An operation met damage, and the scrub has not been asked about it: see takeSuspects. */
  isSuspect: boolean;
  /** Dropped: writes still in the log must not be applied. */
  isDropped: boolean;
  highestMs: number;
  /** Requests since the last count: see storeRequests. */
  requests: number;
  /** Recent requests per second. */
  requestRate: number;
  /** Milliseconds over which requests have been counted. */
  requestsMs: number;
  /** The floor, and file, whose tombstones this process has dropped completely; null: none yet. */
  purgedFloor: { readonly incarnation: string; readonly floorMs: number } | null;
}

/** `life` is filled in when the file is opened for the first time. */
export function newPartition({
  keyspace,
  partition,
  incarnation,
}: Pick<Partition, 'keyspace' | 'partition' | 'incarnation'>): Partition {
  return {
    keyspace,
    partition,
    incarnation,
    life: '',
    file: null,
    fileIdentities: null,
    hasFile: true,
    isNew: false,
    infoWhenClosed: null,
    closedWithoutExpiry: null,
    pendingMarks: null,
    pinCount: 0,
    holdCount: 0,
    isCheckpointDue: false,
    usedAt: 0,
    dirtySegment: noSegment,
    synced: null,
    neededSegment: noSegment,
    logSegment: -1,
    logIndex: -1,
    damage: null,
    isSuspect: false,
    isDropped: false,
    highestMs: 0,
    requests: 0,
    requestRate: 0,
    requestsMs: 0,
    purgedFloor: null,
  };
}

/** Keeps the partition's file open until the `using` block ends. */
export function pinned(partition: Partition): Disposable {
  partition.pinCount += 1;
  return {
    [Symbol.dispose]: () => {
      partition.pinCount -= 1;
    },
  };
}

/** Whether the partition has received nothing but changes of its state. */
export function isEmpty({ hasFile, file }: Partition): boolean {
  return !hasFile && file === null;
}

/** Marks a partition as damaged if the error is damage of its file; throws any other error. */
export function noteDamage(partition: Partition, error: unknown): CodedError {
  if (!isDamage(error)) throw withFileName(error, partition.file?.db.name);
  // Only once: later operations are refused for the same damage.
  partition.isSuspect ||= partition.damage === null;
  partition.damage ??= damageError(error, partition);
  return partition.damage;
}

/** Notes that a checkpoint has synced everything before this segment of the log. */
export function noteSynced(partition: Partition, segment = noSegment): void {
  if (!partition.isNew) partition.dirtySegment = Math.max(partition.dirtySegment, segment);
}
