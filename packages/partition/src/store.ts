// A store: the partitions of one data directory behind one commit log.
/* oxlint-disable max-params -- keyspace and partition come first in every method, as agreed */
import type { CodedError } from '@ringwright/base/coded-error';
import type { Stamp } from '@ringwright/base/stamp';
import { changeMarks } from './change-marks.ts';
import { closeStore } from './close-store.ts';
import type { CopyManifest } from './copy/copy-manifest.ts';
import { type IncomingCopy, receiveCopy } from './copy/incoming-copy.ts';
import { type Snapshot, takeSnapshot } from './copy/snapshot.ts';
import { storeCopies } from './copy/store-copies.ts';
import { countExpired } from './count-expired.ts';
import { checkPartitionName } from './file/data-paths.ts';
import type { Partition } from './file/partition.ts';
import type { PartitionFile } from './file/partition-file.ts';
import type { PartitionInfo, PartitionMarks, PartitionState } from './file/partition-info.ts';
import { readRecord, recordsSince, stampsSince } from './file/read-records.ts';
import type { RecentView } from './file/recent-rows.ts';
import type {
  PageBounds,
  RowsPage,
  StoredPromise,
  StoredRecord,
  StoredStamp,
  Write,
  WriteOutcome,
} from './file/record.ts';
import type { TombstoneMarks } from './file/tombstone-marks.ts';
import { leaveStore } from './leave-store.ts';
import { type NewestRecord, newestRecords } from './newest-records.ts';
import { type FilesLook, lookAtFiles } from './parts/look-at-files.ts';
import { queueWriteFor, queueWrites, type WriteCaller } from './parts/queue-writes.ts';
import { storeDisk } from './parts/store-disk.ts';
import { storePages } from './parts/store-pages.ts';
import { checkOpen, partitionOf, type StoreParts } from './parts/store-parts.ts';
import { storePeers } from './parts/store-peers.ts';
import { storeRequests } from './parts/store-requests.ts';
import { readForRequest, usePartition } from './parts/use-partition.ts';
import { raiseFloor } from './raise-floor.ts';
import { rewriteLost } from './rewrite-lost.ts';
import { type Scrubbed, scrubPartition } from './scrub-partition.ts';
import { storeChildren } from './store-children.ts';
import { createPartition, dropPartition } from './trash/partition-lifecycle.ts';
import { storeTrash } from './trash/store-trash.ts';

/** Made by openStore. All reads are synchronous; see and show only what is durable. */
export class Store {
  /** Dropped partitions. */
  readonly trash: ReturnType<typeof storeTrash>;
  /** Whole files, from process to process. */
  readonly copies: ReturnType<typeof storeCopies>;
  /** Records in the order of their keys. */
  readonly pages: ReturnType<typeof storePages>;
  /** What other holders have of the files here. */
  readonly peers: ReturnType<typeof storePeers>;
  /** What the files take, and what is free. */
  readonly disk: ReturnType<typeof storeDisk>;
  /** How much each partition is asked for. */
  readonly requests: ReturnType<typeof storeRequests>;
  /** Children of partitions that are split or merged. */
  readonly children: ReturnType<typeof storeChildren>;
  /** Partitions of which a use has met damage: whoever scrubs them takes them out. */
  readonly suspects: StoreParts['suspects'];
  readonly directory: string;
  readonly #parts: StoreParts;
  #closing: Promise<boolean> | null = null;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.directory = parts.root;
    this.suspects = parts.suspects;
    this.trash = storeTrash(parts);
    this.copies = storeCopies(parts);
    this.pages = storePages(parts);
    this.peers = storePeers(parts);
    this.disk = storeDisk(parts);
    this.requests = storeRequests(parts);
    this.children = storeChildren(parts);
  }

  /**
   * Resolves when every write is durable on this disk and readable here; outcomes in the order
   * given. Rejects before anything is written: KEY_INVALID, VALUE_TOO_LARGE, VALUE_OUT_OF_RANGE,
   * STORE_BUSY, DISK_FULL, STORE_CLOSED. STORE_FAILED and PARTITION_DAMAGED: each write may or may
   * not be there after the store is reopened. A partition known as damaged counts as absent.
   */
  write(writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
    return queueWrites(this.#parts, writes);
  }

  /** As `write` of one, whose caller is told instead of a promise. Throws what `write` rejects with. */
  writeFor(write: Write, caller: WriteCaller): void {
    queueWriteFor(this.#parts, write, caller);
  }

  /** Also a tombstone. Throws PARTITION_ABSENT, PARTITION_DAMAGED, RECORD_DAMAGED. */
  read(keyspace: string, partition: number, key: Uint8Array): StoredRecord | null {
    return this.#withFile(keyspace, partition, (file) => readRecord(file, key));
  }

  /** The stamp of the record that `read` would give. Throws PARTITION_ABSENT, PARTITION_DAMAGED. */
  stampOf(keyspace: string, partition: number, key: Uint8Array): Stamp | null {
    return this.#withFile(keyspace, partition, (file) => file.heldRow(key));
  }

  /** Records numbered above `seq`, in order of their numbers. Throws as `read`. */
  rowsSince(
    keyspace: string,
    partition: number,
    seq: number,
    bounds: PageBounds,
  ): RowsPage<StoredRecord> {
    return this.#withFile(keyspace, partition, (file) => recordsSince(file, seq, bounds));
  }

  /** As rowsSince without values: what to offer to a peer. */
  stampsSince(
    keyspace: string,
    partition: number,
    seq: number,
    bounds: PageBounds,
  ): RowsPage<StoredStamp> {
    return this.#withFile(keyspace, partition, (file) => stampsSince(file, seq, bounds));
  }

  /** The last `limit` records, the newest first. */
  newest(keyspace: string, partition: number, limit: number): NewestRecord[] {
    return this.#withFile(keyspace, partition, ({ sql }) => newestRecords(sql, limit));
  }

  /** How many records with a value have expired by `nowMs` and are still in the file. */
  async expired(keyspace: string, partition: number, nowMs: number): Promise<number> {
    return countExpired(this.#parts, this.#partition(keyspace, partition), nowMs);
  }

  /** Promises that no record has caught up with, in no order: see Write.isPromise. */
  promises(keyspace: string, partition: number): StoredPromise[] {
    return this.#withFile(keyspace, partition, (file) => file.promises.all());
  }

  /** Durably promises what PartitionInfo.barrierMs says; never lowered. The server keeps it. */
  async promiseFloor(keyspace: string, partition: number, ms: number): Promise<void> {
    await this.carryMarks(keyspace, partition, { barrierMs: ms, floorMs: 0 });
  }

  /** Durably: what other files promised and dropped, when it has their records. */
  async carryMarks(keyspace: string, partition: number, marks: TombstoneMarks): Promise<void> {
    await changeMarks(this.#parts, this.#partition(keyspace, partition), marks);
  }

  /**
   * Drops tombstones stamped at or below `ms`: see PartitionInfo.floorMs; when it may be called:
   * packages/partition/DESIGN.md. False when nothing was left to do, which is known without a look
   * from the second time on. Throws VALUE_OUT_OF_RANGE above what was promised.
   */
  async raiseFloor(keyspace: string, partition: number, ms: number): Promise<boolean> {
    return raiseFloor(this.#parts, this.#partition(keyspace, partition), ms);
  }

  /** Empty; it needs no file yet. Durable when it resolves. Throws PARTITION_EXISTS, DISK_FULL. */
  async create(keyspace: string, partition: number, state: PartitionState): Promise<PartitionInfo> {
    checkOpen(this.#parts);
    checkPartitionName(keyspace, partition);
    return createPartition(this.#parts, { keyspace, partition, state });
  }

  /** Durable, and shown, when it resolves. Throws PARTITION_ABSENT, PARTITION_DAMAGED. */
  async setState(keyspace: string, partition: number, state: PartitionState): Promise<void> {
    await changeMarks(this.#parts, this.#partition(keyspace, partition), { state });
  }

  /** Null when there is no file here. Throws PARTITION_DAMAGED when it cannot be used. */
  info(keyspace: string, partition: number): PartitionInfo | null {
    checkOpen(this.#parts);
    const found = this.#parts.registry.get(keyspace, partition);
    return found === undefined ? null : this.#infoOf(found);
  }

  /** As info, for every request: cheap. */
  marks(keyspace: string, partition: number): PartitionMarks | null {
    checkOpen(this.#parts);
    const found = this.#parts.registry.get(keyspace, partition);
    if (found === undefined) return null;
    if (found.damage !== null) throw found.damage;
    return found.file?.marks() ?? this.#infoOf(found);
  }

  /** What it was given in the last seconds; null when its file is not open. */
  recent(keyspace: string, partition: number): RecentView | null {
    return this.#parts.registry.get(keyspace, partition)?.file?.recent.view() ?? null;
  }

  /**
   * Partitions of a keyspace that got records, another state or another file since this was asked
   * the last time. For one asker: the replication.
   */
  takeTouched(keyspace: string): ReadonlySet<number> {
    return this.#parts.registry.takeTouched(keyspace);
  }

  /** All usable partitions. */
  list(): PartitionInfo[] {
    checkOpen(this.#parts);
    return [...this.#parts.registry.all()]
      .filter((partition) => partition.damage === null)
      .map((partition) => this.#infoOf(partition));
  }

  /** Partitions whose files cannot be used: to be dropped and refilled from peers. */
  damaged(): { keyspace: string; partition: number; error: CodedError }[] {
    return [...this.#parts.registry.all()].flatMap(({ keyspace, partition, damage }) =>
      damage === null ? [] : [{ keyspace, partition, error: damage }],
    );
  }

  #infoOf(partition: Partition): PartitionInfo {
    if (partition.damage !== null) throw partition.damage;
    return (
      partition.file?.info() ??
      partition.infoWhenClosed ??
      usePartition(this.#parts, partition, (file) => file.info())
    );
  }

  /** The highest ms of any stamp stored here: what the clock must exceed after a restart. */
  highestMs(): number {
    let highest = 0;
    for (const { highestMs, file } of this.#parts.registry.all()) {
      highest = Math.max(highest, highestMs, file?.highestMs ?? 0);
    }
    return highest;
  }

  /** A staged copy of the file, of one moment, to be released. Throws DISK_FULL, PARTITION_ABSENT. */
  async snapshot(keyspace: string, partition: number): Promise<Snapshot> {
    return takeSnapshot(this.#parts, this.#partition(keyspace, partition));
  }

  /**
   * Begins to receive a copy for a partition that exists here. Throws PARTITION_ABSENT,
   * COPY_INVALID for a manifest that cannot be, DISK_FULL before the first byte.
   */
  async receiveCopy(
    keyspace: string,
    partition: number,
    manifest: CopyManifest,
  ): Promise<IncomingCopy> {
    return receiveCopy(this.#parts, this.#partition(keyspace, partition), manifest);
  }

  /** Moves the partition's folder to the trash; durable when it resolves. Throws PARTITION_ABSENT. */
  async drop(keyspace: string, partition: number, atMs: number = Date.now()): Promise<void> {
    await dropPartition(this.#parts, this.#partition(keyspace, partition), atMs);
  }

  /** Audits one partition; with findings it is damaged from then on. Throws PARTITION_ABSENT. */
  async scrub(keyspace: string, partition: number): Promise<Scrubbed> {
    return scrubPartition(this.#parts, this.#partition(keyspace, partition));
  }

  /** Whether files in use are those of the directory; lost ones are damaged: see lookAtFiles. */
  lookAtFiles(): Promise<FilesLook> {
    checkOpen(this.#parts);
    return lookAtFiles(this.#parts);
  }

  /** Whether a damaged partition is whole again, out of its open file: see rewriteLost. */
  async rewriteLost(keyspace: string, partition: number): Promise<boolean> {
    return rewriteLost(this.#parts, this.#partition(keyspace, partition));
  }

  /** Waits for writes under way, checkpoints everything, leaves an empty log. Safe to repeat. */
  async close(): Promise<void> {
    this.#closing ??= closeStore(this.#parts).then(() => true);
    await this.#closing;
  }

  /** Instead of `close`, for a process that exits then: see leaveStore. */
  leave(withinMs: number): Promise<boolean> {
    this.#closing ??= leaveStore(this.#parts, withinMs);
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
