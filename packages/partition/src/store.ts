// The store: all partitions of one data directory behind one commit log.
/* oxlint-disable max-params -- keyspace and partition come first in every method, as agreed */
import type { CodedError } from '@ringwright/base/coded-error';
import type { Stamp } from '@ringwright/base/stamp';
import { storeChildren } from './adopt-children.ts';
import { closeStore, exitStore } from './close-store.ts';
import type { CopyManifest } from './copy/copy-manifest.ts';
import { type IncomingCopy, receiveCopy } from './copy/incoming-copy.ts';
import { type Snapshot, takeSnapshot } from './copy/snapshot.ts';
import { storeCopies } from './copy/store-copies.ts';
import { countExpired } from './count-expired.ts';
import { checkPartitionName, type PartitionRef } from './file/data-paths.ts';
import type { Partition } from './file/partition.ts';
import type { PartitionFile } from './file/partition-file.ts';
import type {
  PartitionInfo,
  PartitionMarks,
  PartitionState,
  TombstoneMarks,
} from './file/partition-info.ts';
import { readRecord, readStamp, recordsSince, stampsSince } from './file/read-records.ts';
import type { RecentView } from './file/recent-rows.ts';
import type {
  PageBounds,
  PreparedBallot,
  RowsPage,
  StoredRecord,
  StoredStamp,
  Write,
  WriteOutcome,
} from './file/record.ts';
import { type NewestRecord, newestRecords } from './newest-records.ts';
import { raiseFloor } from './raise-floor.ts';
import { rewriteLost } from './rewrite-lost.ts';
import { type Scrubbed, scrubPartition } from './scrub-partition.ts';
import { changeMarks } from './store/change-marks.ts';
import { checkOpenFiles, type FilesCheck } from './store/check-open-files.ts';
import { queueWriteFor, queueWrites, type WriteCaller } from './store/queue-writes.ts';
import { storeDisk, storeRequests } from './store/store-figures.ts';
import { checkOpen, partitionOf, type StoreParts } from './store/store-parts.ts';
import { storePages, storePeers } from './store/store-rows.ts';
import { readForRequest, usePartition } from './store/use-partition.ts';
import { createPartition, dropPartition } from './trash/partition-lifecycle.ts';
import { storeTrash } from './trash/restore-trash.ts';

/** Created by openStore. Reads by key or sequence are synchronous, and show durable data only. */
export class Store {
  /** Dropped partitions. */
  readonly trash: ReturnType<typeof storeTrash>;
  /** Copies of whole partition files between processes. */
  readonly copies: ReturnType<typeof storeCopies>;
  /** Pages of records in key order. */
  readonly pages: ReturnType<typeof storePages>;
  /** Watermarks: what other holders have confirmed of the files here. */
  readonly peers: ReturnType<typeof storePeers>;
  /** Sizes of the files, and free space. */
  readonly disk: ReturnType<typeof storeDisk>;
  /** Request rate of each partition. */
  readonly requests: ReturnType<typeof storeRequests>;
  /** Children of partitions that are split or merged. */
  readonly children: ReturnType<typeof storeChildren>;
  readonly directory: string;
  readonly #parts: StoreParts;
  #closing: Promise<boolean> | null = null;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.directory = parts.root;
    this.trash = storeTrash(parts);
    this.copies = storeCopies(parts);
    this.pages = storePages(parts);
    this.peers = storePeers(parts);
    this.disk = storeDisk(parts);
    this.requests = storeRequests(parts);
    this.children = storeChildren(parts);
  }

  /**
   * Resolves when every write is durable on this disk and readable here; the outcomes are in the
   * order of the writes. Rejects before anything is written: KEY_INVALID, VALUE_TOO_LARGE,
   * VALUE_OUT_OF_RANGE, STORE_BUSY, DISK_FULL, STORE_CLOSED. After STORE_FAILED and
   * PARTITION_DAMAGED, each write may or may not be there once the store is reopened. A partition
   * already known as damaged counts as absent.
   */
  write(writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
    return queueWrites(this.#parts, writes);
  }

  /** Like `write` for one write, with callbacks. Throws the errors that `write` rejects with. */
  writeFor(write: Write, caller: WriteCaller): void {
    queueWriteFor(this.#parts, write, caller);
  }

  /** May return a tombstone. Throws PARTITION_ABSENT, PARTITION_DAMAGED, RECORD_DAMAGED. */
  read(keyspace: string, partition: number, key: Uint8Array): StoredRecord | null {
    return this.#withFile(keyspace, partition, (file) => readRecord(file, key));
  }

  /** Stamp of the record that `read` would return. Throws PARTITION_ABSENT, PARTITION_DAMAGED. */
  stampOf(keyspace: string, partition: number, key: Uint8Array): Stamp | null {
    return this.#withFile(keyspace, partition, (file) => readStamp(file, key));
  }

  /** Returns the records with sequences above `seq`, in sequence order. Throws like `read`. */
  rowsSince(
    keyspace: string,
    partition: number,
    seq: number,
    bounds: PageBounds,
  ): RowsPage<StoredRecord> {
    return this.#withFile(keyspace, partition, (file) => recordsSince(file, seq, bounds));
  }

  /** Like rowsSince without the values: what to offer to a peer. */
  stampsSince(
    keyspace: string,
    partition: number,
    seq: number,
    bounds: PageBounds,
  ): RowsPage<StoredStamp> {
    return this.#withFile(keyspace, partition, (file) => stampsSince(file, seq, bounds));
  }

  /** The last `limit` records, newest first. */
  newest(keyspace: string, partition: number, limit: number): NewestRecord[] {
    return this.#withFile(keyspace, partition, ({ sql }) => newestRecords(sql, limit));
  }

  /** Counts the records with a value that have expired by `nowMs` and are still in the file. */
  async expired(keyspace: string, partition: number, nowMs: number): Promise<number> {
    return countExpired(this.#parts, this.#partition(keyspace, partition), nowMs);
  }

  /** Promises that no stored record has caught up with yet, unordered: see Write.isPreparedBallot. */
  preparedBallots(keyspace: string, partition: number): PreparedBallot[] {
    return this.#withFile(keyspace, partition, (file) => file.promises.all());
  }

  /** Durably raises PartitionInfo.barrierMs; it never falls. The server enforces the promise. */
  async raiseBarrier(keyspace: string, partition: number, ms: number): Promise<void> {
    await this.carryMarks(keyspace, partition, { barrierMs: ms, floorMs: 0 });
  }

  /** Durably takes over the barrier and floor of other files whose records this file now has. */
  async carryMarks(keyspace: string, partition: number, marks: TombstoneMarks): Promise<void> {
    await changeMarks(this.#parts, this.#partition(keyspace, partition), marks);
  }

  /**
   * Drops tombstones stamped at or below `ms`: see PartitionInfo.floorMs. When it may be called:
   * file/FLOORS.md. Resolves to false when nothing was left to do; a repeated call
   * knows that without reading rows. Throws VALUE_OUT_OF_RANGE above the barrier.
   */
  async raiseFloor(keyspace: string, partition: number, ms: number): Promise<boolean> {
    return raiseFloor(this.#parts, this.#partition(keyspace, partition), ms);
  }

  /** Durably creates an empty partition, without a file. Throws PARTITION_EXISTS, DISK_FULL. */
  async create(keyspace: string, partition: number, state: PartitionState): Promise<PartitionInfo> {
    checkOpen(this.#parts);
    checkPartitionName(keyspace, partition);
    return createPartition(this.#parts, { keyspace, partition, state });
  }

  /** Durable and visible when it resolves. Throws PARTITION_ABSENT, PARTITION_DAMAGED. */
  async setState(keyspace: string, partition: number, state: PartitionState): Promise<void> {
    await changeMarks(this.#parts, this.#partition(keyspace, partition), { state });
  }

  /** Null when the partition is not here. Throws PARTITION_DAMAGED if its file is unusable. */
  info(keyspace: string, partition: number): PartitionInfo | null {
    checkOpen(this.#parts);
    const found = this.#parts.registry.get(keyspace, partition);
    return found === undefined ? null : this.#infoOf(found);
  }

  /** The cheap part of `info`, for use in every request. */
  marks(keyspace: string, partition: number): PartitionMarks | null {
    checkOpen(this.#parts);
    const found = this.#parts.registry.get(keyspace, partition);
    if (found === undefined) return null;
    if (found.damage !== null) throw found.damage;
    return found.file?.marks() ?? this.#infoOf(found);
  }

  /** Sums of the rows received in the last seconds; null when the file is not open. */
  recent(keyspace: string, partition: number): RecentView | null {
    return this.#parts.registry.get(keyspace, partition)?.file?.recent.view() ?? null;
  }

  /**
   * Returns the partitions of a keyspace that got records, a new state or a new file since the last
   * call. For one caller only: replication.
   */
  takeTouched(keyspace: string): ReadonlySet<number> {
    return this.#parts.registry.takeTouched(keyspace);
  }

  /** All usable partitions, or those of one keyspace. */
  list(of?: string): PartitionInfo[] {
    checkOpen(this.#parts);
    return [...this.#parts.registry.all(of)]
      .filter((partition) => partition.damage === null)
      .map((partition) => this.#infoOf(partition));
  }

  /** Partitions whose files are unusable: the caller drops them and refills them from peers. */
  damaged(of?: string): (PartitionRef & { readonly error: CodedError })[] {
    const found: ReturnType<Store['damaged']> = [];
    for (const { keyspace, partition, damage } of this.#parts.registry.all(of)) {
      if (damage !== null) found.push({ keyspace, partition, error: damage });
    }
    return found;
  }

  #infoOf(partition: Partition): PartitionInfo {
    if (partition.damage !== null) throw partition.damage;
    return (
      partition.file?.info() ??
      partition.infoWhenClosed ??
      usePartition(this.#parts, partition, (file) => file.info())
    );
  }

  /** The highest ms of any stamp stored here. After a restart the clock must exceed it. */
  highestMs(): number {
    let highest = 0;
    for (const { highestMs, file } of this.#parts.registry.all()) {
      highest = Math.max(highest, highestMs, file?.highestMs ?? 0);
    }
    return highest;
  }

  /** Stages a consistent copy; the caller releases it. Throws DISK_FULL, PARTITION_ABSENT. */
  async snapshot(keyspace: string, partition: number): Promise<Snapshot> {
    return takeSnapshot(this.#parts, this.#partition(keyspace, partition));
  }

  /**
   * Begins to receive a copy of a partition that exists here. Throws PARTITION_ABSENT, COPY_INVALID
   * for an impossible manifest, and DISK_FULL before the first byte.
   */
  async receiveCopy(
    keyspace: string,
    partition: number,
    manifest: CopyManifest,
  ): Promise<IncomingCopy> {
    return receiveCopy(this.#parts, this.#partition(keyspace, partition), manifest);
  }

  /** Durably moves the partition's folder to the trash. Throws PARTITION_ABSENT. */
  async drop(keyspace: string, partition: number, atMs: number = Date.now()): Promise<void> {
    await dropPartition(this.#parts, this.#partition(keyspace, partition), atMs);
  }

  /** Returns, once, the partitions in which an operation met damage: nobody else reports them. */
  takeSuspects(): readonly PartitionRef[] {
    return this.#parts.registry.takeSuspects();
  }

  /** Audits one partition; findings mark it as damaged. Throws PARTITION_ABSENT. */
  async scrub(keyspace: string, partition: number): Promise<Scrubbed> {
    return scrubPartition(this.#parts, this.#partition(keyspace, partition));
  }

  /** Compares the open files with the directory and marks lost ones as damaged: see checkOpenFiles. */
  checkOpenFiles(): Promise<FilesCheck> {
    checkOpen(this.#parts);
    return checkOpenFiles(this.#parts);
  }

  /** Whether a damaged partition was rewritten from its open file: see rewriteLost. */
  async rewriteLost(keyspace: string, partition: number): Promise<boolean> {
    return rewriteLost(this.#parts, this.#partition(keyspace, partition));
  }

  /** Waits for writes in flight, checkpoints every file and leaves an empty log. Idempotent. */
  async close(): Promise<void> {
    this.#closing ??= closeStore(this.#parts).then(() => true);
    await this.#closing;
  }

  /** Replaces `close` in a process that is about to exit: see exitStore. */
  leave(withinMs: number): Promise<boolean> {
    this.#closing ??= exitStore(this.#parts, withinMs);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #partition(keyspace: string, partition: number): Partition {
    return partitionOf(this.#parts, { keyspace, partition });
  }

  #withFile<T>(keyspace: string, partition: number, use: (file: PartitionFile) => T): T {
    return readForRequest(this.#parts, this.#partition(keyspace, partition), use);
  }
}
