// One open partition file: last-write-wins rows, their numbering, and counters kept in the same
// transaction.
import { CodedError } from '@ringwright/base/coded-error';
import { compareStamps, stampTieMax } from '@ringwright/base/stamp';
import type Database from 'better-sqlite3';
import { type Digest, emptyDigest, formatDigest, parseDigest, toggleRow } from './digest.ts';
import type { PartitionInfo, PartitionState } from './partition-info.ts';
import { readMeta } from './partition-meta.ts';
import { partitionStatements } from './partition-statements.ts';
import type { WriteOutcome } from './record.ts';
import { isRowHash, type RecordContent } from './record-bytes.ts';
import { type MetaRow, metaChecksum, pageBytes } from './schema.ts';
import { Watermarks } from './watermarks.ts';

/** A record with its row hash, ready to be compared and stored. */
export interface HashedRecord extends RecordContent {
  readonly hash: Buffer;
}

const APPLIED: WriteOutcome = { kind: 'applied' };
const SAME: WriteOutcome = { kind: 'same' };
/** WAL bytes of one transaction and of one row at the worst: a few pages each. */
const WAL_BYTES_PER_TRANSACTION = 8_192;
const WAL_BYTES_PER_ROW = 12_288;

/**
 * The one connection to a live partition file. Everything is synchronous and belongs to this
 * thread.
 */
export class PartitionFile {
  readonly db: Database.Database;
  readonly watermarks: Watermarks;
  readonly #sql: ReturnType<typeof partitionStatements>;
  #meta: MetaRow;
  #digest: Digest;
  /** An upper bound of the bytes in the WAL, made exact when it grows large. */
  #walBytes = 0;

  constructor(db: Database.Database) {
    this.db = db;
    // Before any statement on its tables: these may not be ours.
    this.#meta = readMeta(db);
    this.#sql = partitionStatements(db);
    this.#digest = parseDigest(this.#meta.digest) ?? emptyDigest;
    this.watermarks = new Watermarks(db);
  }

  get sql(): ReturnType<typeof partitionStatements> {
    return this.#sql;
  }

  get life(): string {
    return this.#meta.life;
  }

  get highestMs(): number {
    return this.#meta.highest_ms;
  }

  get seq(): number {
    return this.#meta.seq;
  }

  info(): PartitionInfo {
    const { keyspace, partition, incarnation, state, seq, rows, tombstones, bytes } = this.#meta;
    return {
      keyspace,
      partition,
      incarnation,
      state: state as PartitionState, // readMeta let nothing else in
      seq,
      rows,
      tombstones,
      bytes,
      digest: formatDigest(this.#digest),
      barrierMs: this.#meta.barrier_ms,
      floorMs: this.#meta.floor_ms,
    };
  }

  /**
   * Stores rows in one transaction, each only if it is newer than what the key holds. A row that
   * replaces another moves to a new sequence number, so that whoever follows the numbers sees it
   * again.
   */
  apply(rows: readonly HashedRecord[]): WriteOutcome[] {
    const sql = this.#sql;
    const tally = { ...this.#meta, digest: this.#digest };
    const outcomes: WriteOutcome[] = [];
    let meta = this.#meta;
    let walBytes = WAL_BYTES_PER_TRANSACTION;
    this.#inTransaction(() => {
      for (const row of rows) {
        const outcome = this.#applyRow(row, tally);
        outcomes.push(outcome);
        if (outcome === APPLIED) walBytes += WAL_BYTES_PER_ROW + (row.value?.length ?? 0);
      }
      if (tally.seq === this.#meta.seq) return;
      meta = sealMeta({ ...tally, digest: formatDigest(tally.digest) });
      const { seq, rows: live, tombstones, bytes, digest, highest_ms, checksum } = meta;
      sql.setCounters.run(seq, live, tombstones, bytes, digest, highest_ms, checksum);
    });
    if (meta !== this.#meta) {
      this.#meta = meta;
      this.#digest = tally.digest;
      this.#walBytes += walBytes;
    }
    return outcomes;
  }

  #applyRow(row: HashedRecord, tally: Tally): WriteOutcome {
    const sql = this.#sql;
    const held = sql.find.get(row.key);
    if (held === undefined) {
      // As if a tombstone of that stamp were here: it stands for all that were dropped.
      const { floor_ms } = this.#meta;
      if (row.ms <= floor_ms) return { kind: 'stale', ms: floor_ms, tie: stampTieMax };
      tally.seq += 1;
      sql.insert.run(tally.seq, row.key, row.ms, row.tie, row.value, row.hash);
    } else {
      const [heldSeq, ms, tie, valueBytes, heldHash] = held;
      if (!isRowHash(heldHash)) throw this.#damaged(`record ${heldSeq} has no row hash`);
      const order = compareStamps(row, { ms, tie });
      if (order === 0) return SAME;
      if (order < 0) return { kind: 'stale', ms, tie };
      tally.seq += 1;
      sql.replace.run(tally.seq, row.ms, row.tie, row.value, row.hash, heldSeq);
      if (valueBytes === null) tally.tombstones -= 1;
      else {
        tally.rows -= 1;
        tally.bytes -= valueBytes;
      }
      tally.digest = toggleRow(tally.digest, heldHash);
    }
    if (row.value === null) tally.tombstones += 1;
    else {
      tally.rows += 1;
      tally.bytes += row.value.length;
    }
    tally.digest = toggleRow(tally.digest, row.hash);
    if (row.ms > tally.highest_ms) tally.highest_ms = row.ms;
    return APPLIED;
  }

  #damaged(what: string): CodedError {
    return new CodedError('PARTITION_DAMAGED', `${this.db.name}: ${what}`);
  }

  /** Durable when it returns. */
  setState(state: PartitionState): void {
    const meta = sealMeta({ ...this.#meta, state });
    this.#inTransaction(() => this.#sql.setState.run(state, meta.checksum));
    this.#meta = meta;
    // failpoint: file.state-set
    if (!this.checkpoint('PASSIVE')) throw new Error(`${this.db.name} could not be checkpointed`);
  }

  /** Makes a received copy this device's own: new identity, no watermarks of its source. */
  takeOver(identity: {
    incarnation: string;
    life: string;
    state: PartitionState;
    /** What the present file has promised: a copy does not take that back. */
    barrierMs: number;
  }): void {
    const { incarnation, life, state } = identity;
    const barrier_ms = Math.max(identity.barrierMs, this.#meta.barrier_ms);
    const meta = sealMeta({ ...this.#meta, incarnation, life, state, barrier_ms });
    this.#inTransaction(() => {
      this.#sql.setIdentity.run(incarnation, life, state, barrier_ms, meta.checksum);
      this.watermarks.clear();
    });
    this.#meta = meta;
    this.#walBytes += WAL_BYTES_PER_TRANSACTION;
  }

  /** Raises what is promised or dropped; neither is ever lowered. Durable when it returns. */
  raise(to: { barrierMs?: number; floorMs?: number }): void {
    const barrier_ms = Math.max(this.#meta.barrier_ms, to.barrierMs ?? 0);
    const floor_ms = Math.max(this.#meta.floor_ms, to.floorMs ?? 0);
    const meta = sealMeta({ ...this.#meta, barrier_ms, floor_ms });
    if (meta.checksum === this.#meta.checksum) return;
    this.#inTransaction(() => this.#sql.setFloors.run(barrier_ms, floor_ms, meta.checksum));
    this.#meta = meta;
    // failpoint: file.floor-set
    if (!this.checkpoint('PASSIVE')) throw new Error(`${this.db.name} could not be checkpointed`);
  }

  /**
   * Removes tombstones at or below the floor, which stands for them from now on: up to `limit` of
   * those with a sequence above `after`, in one transaction. Returns the last one's sequence, or
   * null when there are no more.
   */
  dropTombstones(after: number, limit: number): number | null {
    const old = this.#sql.oldTombstones.all(after, this.#meta.floor_ms, limit);
    const last = old.at(-1);
    if (last === undefined) return null;
    const tombstones = this.#meta.tombstones - old.length;
    let digest = this.#digest;
    for (const [seq, hash] of old) {
      if (!isRowHash(hash)) throw this.#damaged(`record ${seq} has no row hash`);
      digest = toggleRow(digest, hash);
    }
    const meta = sealMeta({ ...this.#meta, tombstones, digest: formatDigest(digest) });
    this.#inTransaction(() => {
      for (const [seq] of old) this.#sql.remove.run(seq);
      const { seq, rows, bytes, highest_ms, checksum } = meta;
      this.#sql.setCounters.run(seq, rows, tombstones, bytes, meta.digest, highest_ms, checksum);
    });
    this.#meta = meta;
    this.#digest = digest;
    this.#walBytes += WAL_BYTES_PER_TRANSACTION + old.length * WAL_BYTES_PER_ROW;
    return last[0];
  }

  /** Moves the WAL into the file and syncs both; false when something kept it from finishing. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    const [busy, log, done] = this.#checkpointRow(mode);
    const complete = busy === 0 && log === done;
    if (complete) this.#walBytes = 0;
    return complete;
  }

  /** Whether the WAL holds more than `walBytesMax` that no checkpoint has moved yet. */
  walExceeds(walBytesMax: number): boolean {
    this.#walBytes += this.watermarks.takeWalBytes();
    if (this.#walBytes <= walBytesMax) return false;
    const [, log, done] = this.#checkpointRow('NOOP');
    this.#walBytes = log === done ? 0 : log * pageBytes;
    return this.#walBytes * 2 > walBytesMax;
  }

  #checkpointRow(mode: 'PASSIVE' | 'TRUNCATE' | 'NOOP'): [number, number, number] {
    const row = this.#sql.checkpoint[mode].get();
    return row ?? [1, 0, 0];
  }

  #inTransaction(work: () => void): void {
    this.#sql.begin.run();
    try {
      work();
      // failpoint: file.before-commit
      this.#sql.commit.run();
    } catch (error) {
      if (this.db.inTransaction) this.#sql.rollback.run();
      throw error;
    }
  }

  /**
   * Checkpoints and closes. Throws when the checkpoint could not finish: the log must then stay.
   */
  close(): void {
    const complete = this.checkpoint('TRUNCATE');
    this.db.close();
    if (!complete) throw new Error(`checkpoint of ${this.db.name} could not finish`);
  }
}

function sealMeta(meta: Omit<MetaRow, 'checksum'>): MetaRow {
  return { ...meta, checksum: metaChecksum(meta) };
}

interface Tally {
  seq: number;
  rows: number;
  tombstones: number;
  bytes: number;
  highest_ms: number;
  digest: Digest;
}
