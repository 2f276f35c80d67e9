// The commit log, with group commit: while one batch is being synced, the next one gathers.
import { CodedError } from '@ringwright/base/coded-error';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { whyLost } from '../file/file-identity.ts';
import type { Partition } from '../file/partition.ts';
import type { Write } from '../file/record.ts';
import { FinishedSegments } from './finished-segments.ts';
import {
  addToBatch,
  bytesInBatch,
  emptyBatch,
  growBatch,
  type LogBatch,
  type LoggedChange,
  type WriteCall,
} from './log-batch.ts';
import { checksumFrame, frameHeaderBytes, segmentHeaderBytes } from './log-frame.ts';
import {
  appendFrame,
  createSegment,
  type DurableFrame,
  finishSegment,
  type LogSegment,
  whyEmptied,
} from './log-segment.ts';
import type { StoreLimits } from './store-limits.ts';

const BATCH_BYTES_AT_FIRST = 256 * 1024;

interface CommitLogOptions {
  readonly directory: string;
  readonly limits: StoreLimits;
  readonly segment: LogSegment;
  /**
   * Called in order with each durable batch. Applies it, perhaps in several turns; the batch's
   * buffer is reused afterwards.
   */
  readonly onDurable: (batch: LogBatch) => MaybePromise<void>;
  /** Called when a new segment has begun. */
  readonly onRotate: () => void;
  /** Called once; the log then accepts nothing more. A failed sync is never retried (fsyncgate). */
  readonly onFailure: (error: unknown) => void;
}

export class CommitLog {
  readonly #options: CommitLogOptions;
  #segment: LogSegment;
  /** Batches not yet durable, oldest first; the first is being written when #busy. */
  readonly #batches: LogBatch[] = [];
  readonly #spareBuffers: Buffer[] = [];
  #busy = false;
  /** When the call under way began, if #busy. */
  #busySinceMs = 0;
  /** Set while a batch is applied that needs more than one turn. */
  #applying: Promise<void> | null = null;
  #scheduled = false;
  #failed = false;
  #queuedBytes = 0;
  /** Durable bytes of the current segment. */
  #durableBytes = segmentHeaderBytes;
  #lastFrame: DurableFrame | null = null;
  /** The frame that was the last one at the previous check of the file. */
  #frameBefore: DurableFrame | null = null;
  /** The segments before the current one. */
  readonly finished = new FinishedSegments();
  /**
   * Where gathered batches will go: the segment, its size including them, and its next dictionary
   * index.
   */
  #planned: { segment: number; bytes: number; nextIndex: number };
  #idleCallbacks: (() => void)[] = [];

  constructor(options: CommitLogOptions) {
    this.#options = options;
    this.#segment = options.segment;
    this.#planned = { segment: options.segment.number, bytes: options.segment.bytes, nextIndex: 0 };
  }

  /**
   * Entries that are not applied yet are in this segment or will be in later ones. It is needed
   * until the next one exists: a log in use always has a segment.
   */
  get currentSegment(): number {
    return this.#segment.number;
  }

  /** Says why the current segment, which a recovery would need, is lost; null if it is intact. */
  async whyLost(): Promise<string | null> {
    const segment = this.#segment;
    const { file, identity } = segment;
    const reason = whyLost(file, identity && { ...identity, bytes: this.#durableBytes });
    if (reason !== null) return reason;
    // The newest frame would hide a truncation that came before it.
    const frame = this.#frameBefore;
    this.#frameBefore = this.#lastFrame;
    try {
      const emptied = await whyEmptied(segment, frame);
      return segment === this.#segment ? emptied : null;
    } catch (error) {
      // By then the segment may be finished and removed.
      if (segment !== this.#segment) return null;
      throw error;
    }
  }

  /** Makes the next write begin a new segment. */
  abandonSegment(): void {
    if (this.#planned.segment > this.#segment.number) return;
    this.#planned.bytes = this.#options.limits.logSegmentBytesMax;
  }

  /** Says that the disk hangs; null if it does not. Writes in the queue wait until it returns. */
  get stall(): string | null {
    // A batch that is being applied delays the end of the call, and not the disk.
    if (!this.#busy || this.#applying !== null) return null;
    const ms = performance.now() - this.#busySinceMs;
    if (ms < this.#options.limits.logStallMs) return null;
    return `a write to ${this.#segment.file} has not returned for ${Math.round(ms / 1_000)} s`;
  }

  /** Throws STORE_BUSY unless `bytes` more fit into the queue, and while the disk hangs. */
  checkRoom(bytes: number): void {
    const { stall } = this;
    if (stall !== null) {
      throw new CodedError('STORE_BUSY', stall, {
        hint: 'the disk hangs: look into the system log; writes go on when it answers',
      });
    }
    const { logQueueBytesMax } = this.#options.limits;
    if (this.#queuedBytes + bytes <= logQueueBytesMax) return;
    throw new CodedError(
      'STORE_BUSY',
      `${this.#queuedBytes} bytes wait for the log and ${bytes} more exceed ${logQueueBytesMax}`,
      { hint: 'write in smaller calls, and wait for their answers' },
    );
  }

  /** Queues one entry. The caller has checked the room for its whole call. */
  append(
    entry: Write | LoggedChange,
    queued: { partition: Partition; call: WriteCall; index: number },
  ): void {
    const batch = this.#batchWithRoom(bytesInBatch(entry, queued.partition));
    const usedBefore = batch.used;
    addToBatch(batch, entry, { place: queued, nextIndex: this.#nextIndex });
    this.#queuedBytes += batch.used - usedBefore;
    this.#planned.bytes += batch.used - usedBefore;
    if (!this.#busy && !this.#scheduled) {
      this.#scheduled = true;
      // After this turn's I/O events, so that requests that arrived together share one sync.
      setImmediate(() => {
        this.#scheduled = false;
        if (!this.#busy) this.#writeNext();
      });
    }
  }

  readonly #nextIndex = (): number => {
    this.#planned.nextIndex += 1;
    return this.#planned.nextIndex - 1;
  };

  #batchWithRoom(bytes: number): LogBatch {
    const { logBatchWritesMax, logBatchBytesMax, logSegmentBytesMax } = this.#options.limits;
    const last = this.#batches.at(-1);
    const inFlight = this.#busy && this.#batches.length === 1;
    const isFull = this.#planned.bytes >= logSegmentBytesMax;
    if (last !== undefined && !isFull && !inFlight && last.entries.length < logBatchWritesMax) {
      if (last.used + bytes <= logBatchBytesMax) {
        growBatch(last, bytes, logBatchBytesMax);
        return last;
      }
    }
    if (isFull) {
      const segment = this.#planned.segment + 1;
      this.#planned = { segment, bytes: segmentHeaderBytes, nextIndex: 0 };
    }
    const batch = emptyBatch(this.#planned.segment, this.#buffer(bytes));
    this.#planned.bytes += batch.used;
    this.#batches.push(batch);
    return batch;
  }

  #buffer(bytes: number): Buffer {
    // Small at first: a queue of many small batches must not take a full batch of memory each.
    const least = Math.max(BATCH_BYTES_AT_FIRST, frameHeaderBytes + bytes);
    const spare = this.#spareBuffers.pop();
    return spare !== undefined && spare.length >= least ? spare : Buffer.allocUnsafeSlow(least);
  }

  #writeNext(): void {
    const batch = this.#batches[0];
    if (batch === undefined || this.#failed) return;
    this.#busy = true;
    this.#busySinceMs = performance.now();
    if (batch.segment === this.#segment.number) this.#writeBatch(batch);
    else {
      this.#rotate(batch.segment).then(
        () => this.#writeBatch(batch),
        (error: unknown) => this.#onCallEnded(error),
      );
    }
  }

  #writeBatch(batch: LogBatch): void {
    if (this.#failed) return this.#onCallEnded(null);
    const frame = batch.buffer.subarray(0, batch.used);
    checksumFrame(frame, this.#segment.frames, this.#segment.seed);
    // failpoint: log.before-write
    appendFrame(this.#segment, frame, (error) => {
      if (this.#applying === null) this.#onWritten(batch, error);
      else void this.#applying.then(() => this.#onWritten(batch, error));
    });
  }

  #onWritten(batch: LogBatch, error: Error | null): void {
    if (error !== null || this.#failed) this.#onCallEnded(error);
    else this.#onBatchDurable(batch);
  }

  /** Called when the last call on the log's file has returned: its descriptor is not in use. */
  #onCallEnded(error: unknown): void {
    this.#busy = false;
    if (error !== null) this.#fail(error);
    if (this.#isIdle()) this.#resolveIdle();
  }

  #onBatchDurable(batch: LogBatch): void {
    // failpoint: log.synced
    this.#durableBytes = this.#segment.bytes;
    this.#lastFrame = { offset: this.#durableBytes - batch.used, bytes: batch.used };
    this.#batches.shift();
    this.#queuedBytes -= batch.used - frameHeaderBytes;
    this.#busy = false;
    // The next sync runs in the thread pool while this batch is applied here.
    this.#writeNext();
    const applied = this.#options.onDurable(batch);
    if (applied instanceof Promise) this.#applying = applied.then(() => this.#onApplied(batch));
    else this.#onApplied(batch);
  }

  #onApplied(batch: LogBatch): void {
    this.#applying = null;
    // failpoint: log.applied
    if (this.#spareBuffers.length < 2) this.#spareBuffers.push(batch.buffer);
    if (this.#isIdle()) this.#resolveIdle();
  }

  #isIdle(): boolean {
    if (this.#applying !== null) return false;
    return !this.#busy && (this.#failed || this.#batches.length === 0);
  }

  async #rotate(number: number): Promise<void> {
    const { file, identity, bytes, number: finished } = this.#segment;
    await finishSegment(this.#segment);
    // failpoint: log.segment-finished
    const emptied = await whyEmptied(this.#segment, this.#frameBefore).catch(String);
    const finishedIdentity = identity && { ...identity, bytes };
    this.finished.note(finished, { file, identity: finishedIdentity, emptied });
    const segment = await createSegment(this.#options.directory, number);
    // Entries that are not applied yet must be in the current segment or later: see currentSegment.
    await this.#applying;
    this.#segment = segment;
    this.#durableBytes = this.#segment.bytes;
    [this.#lastFrame, this.#frameBefore] = [null, null];
    this.#options.onRotate();
  }

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#options.onFailure(error);
  }

  /** Accepts nothing more. Returns every batch whose writes have no answer yet. */
  abandon(): readonly LogBatch[] {
    this.#failed = true;
    const unwritten = this.#batches.splice(0);
    // Nothing is being written, so no completion will report that the log is idle.
    if (this.#isIdle()) this.#resolveIdle();
    return unwritten;
  }

  #resolveIdle(): void {
    for (const resolve of this.#idleCallbacks.splice(0)) resolve();
  }

  /** Resolves when nothing is being written, applied or waiting, or when the log has failed. */
  drained(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idleCallbacks.push(resolve));
  }

  async close(): Promise<void> {
    await this.#segment.handle.close();
  }
}
