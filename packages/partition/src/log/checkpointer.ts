// Checkpoints partition files one by one, and removes log segments that nobody needs any more.
import { setImmediate } from 'node:timers/promises';
import { getOrMake } from '@ringwright/base/get-or-make';
import { heldWalBytesMax } from '@ringwright/base/limits-copies';
import type { OpenFiles } from '../file/open-files.ts';
import { noSegment, noteDamage, noteSynced, type Partition, pinned } from '../file/partition.ts';
import type { CommitLog } from './commit-log.ts';
import { listSegments, removeSegments } from './log-segment.ts';

interface CheckpointerOptions {
  readonly logDirectory: string;
  readonly log: Pick<CommitLog, 'currentSegment'>;
  readonly partitions: () => Iterable<Partition>;
  readonly files: Pick<OpenFiles, 'use'>;
  readonly segmentsBehindMax: number;
  readonly onFailure: (error: unknown) => void;
  /** See writeCheckpoints. */
  readonly beforeRemoval: () => Promise<void>;
  /** See finishFile. */
  readonly finish: (partition: Partition) => Promise<void>;
}

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  /** Segments below this one were lost. They are not needed once their partitions are synced. */
  leftSegments = 0;
  readonly #queue = new Map<Partition, PromiseWithResolvers<void>>();
  #running: Promise<void> | null = null;
  #freeSegments = false;
  #stopped = false;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  /**
   * Requests a checkpoint of a partition whose WAL has grown long. Resolves when its turn is over:
   * it may have to wait for a copy, or the checkpointer has stopped.
   */
  request(partition: Partition): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    const turn = getOrMake(this.#queue, partition, () => Promise.withResolvers<void>());
    this.#start();
    return turn.promise;
  }

  /**
   * Called when a new segment has begun: checkpoints the partitions that still need old segments,
   * then removes these.
   */
  segmentBegan(): void {
    const { log, segmentsBehindMax } = this.#options;
    this.#checkpointBelow(Math.max(log.currentSegment - segmentsBehindMax, this.leftSegments));
  }

  /** Called when the segments up to now are lost: makes their content durable in the files. */
  leaveSegments(): void {
    this.leftSegments = this.#options.log.currentSegment + 1;
    this.#checkpointBelow(this.leftSegments);
  }

  #checkpointBelow(segment: number): void {
    if (this.#stopped) return;
    for (const partition of this.#options.partitions()) {
      if (partition.dirtySegment < segment) void this.request(partition);
    }
    this.#freeSegments = true;
    this.#start();
  }

  #start(): void {
    this.#running ??= this.#run()
      .catch((error: unknown) => {
        this.end();
        this.#options.onFailure(error);
      })
      .finally(() => {
        this.#running = null;
        if (this.#queue.size > 0 || this.#freeSegments) this.#start();
      });
  }

  async #run(): Promise<void> {
    for (const [partition, turn] of this.#queue) {
      this.#queue.delete(partition);
      try {
        await setImmediate();
        if (this.#stopped) return;
        if (holdBack(partition)) continue;
        // failpoint: checkpoint.before
        await this.#checkpoint(partition);
      } finally {
        turn.resolve();
      }
    }
    if (!this.#freeSegments) return;
    this.#freeSegments = false;
    await this.#removeUnneeded();
  }

  async #checkpoint(partition: Partition): Promise<void> {
    if (partition.damage !== null || partition.isDropped) return;
    // A closed file was synced when it was closed.
    if (partition.file === null && partition.pendingMarks === null)
      return this.#finishClosed(partition);
    // Entries applied from now on come from this segment or a later one.
    const { currentSegment } = this.#options.log;
    using _ = pinned(partition);
    try {
      const file = this.#options.files.use(partition);
      const { incarnation } = partition;
      const { seq } = file;
      const isComplete = await file.checkpointInPool();
      if (partition.file !== file || partition.damage !== null || partition.isDropped) return;
      if (isComplete) partition.synced = { incarnation, seq };
      if (isComplete && partition.isNew) {
        await this.#options.finish(partition);
        // Rows that arrived during `finish` may have been flushed, but are not synced.
        if (partition.file === file) noteSynced(partition, currentSegment);
      } else if (isComplete) {
        const dirtySegment = file.unflushed === 'nothing' ? noSegment : currentSegment;
        noteSynced(partition, dirtySegment);
      } else if (!holdBack(partition)) checkpointPartition(this.#options.files, partition);
    } catch (error) {
      noteDamage(partition, error);
    }
  }

  async #finishClosed(partition: Partition): Promise<void> {
    if (!partition.isNew) return;
    await this.#options.finish(partition);
    // Otherwise the file was opened meanwhile, or the log has a change that the file lacks.
    if (partition.file === null && partition.pendingMarks === null) noteSynced(partition);
  }

  async #removeUnneeded(): Promise<void> {
    const { log, logDirectory, partitions, beforeRemoval } = this.#options;
    let needed = log.currentSegment;
    for (const { dirtySegment, neededSegment } of partitions()) {
      needed = Math.min(needed, dirtySegment, neededSegment);
    }
    const segments = await listSegments(logDirectory);
    const unneeded = segments.filter((number) => number < needed);
    if (unneeded.length > 0) await beforeRemoval();
    // failpoint: checkpoint.before-removal
    await removeSegments(logDirectory, unneeded);
  }

  /** Starts nothing more, and waits for the running checkpoint. */
  async stop(): Promise<void> {
    this.end();
    await this.#running;
  }

  /** Starts nothing more: no file is checkpointed, and no segment is removed. */
  end(): void {
    this.#stopped = true;
    this.#freeSegments = false;
    for (const turn of this.#queue.values()) turn.resolve();
    this.#queue.clear();
  }
}

/** True when a copy holds the file; it then requests the checkpoint when it ends. */
function holdBack(partition: Partition): boolean {
  const { holdCount, file } = partition;
  if (holdCount === 0 || file?.wal.exceeds(heldWalBytesMax) !== false) return false;
  partition.isCheckpointDue = true;
  return true;
}

/** Checkpoints an open file. A damaged one is marked, and keeps its segments. */
export function checkpointPartition(files: Pick<OpenFiles, 'use'>, partition: Partition): void {
  if (partition.file === null || partition.damage !== null || partition.isDropped) return;
  try {
    if (files.use(partition).checkpoint('PASSIVE')) noteSynced(partition);
  } catch (error) {
    noteDamage(partition, error);
  }
}
