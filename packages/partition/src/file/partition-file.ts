// One open partition file: last-write-wins rows, their sequences, and counters kept in the same
// transaction. Rows that are durable in the log wait in memory until they are flushed.
import { byteText } from '@ringwright/base/as-buffer';
import { CodedError } from '@ringwright/base/coded-error';
import { compareStamps, stampTieMax } from '@ringwright/base/stamp';
import type Database from 'better-sqlite3';
import { Expiring } from './expiring.ts';
import type { MarksChange } from './marks-change.ts';
import { type HashedRecord, type HeldRow, Memtable, type PendingRow } from './memtable.ts';
import type { NewTables } from './new-partition-file.ts';
import { PageCache } from './open-sqlite.ts';
import type { PartitionInfo, PartitionMarks } from './partition-info.ts';
import { LatestInfo, marksOf, readMeta } from './partition-meta.ts';
import {
  oldRows,
  PreparedStatements,
  statements,
  storeCounters,
  storeMarks,
  storeRows,
} from './partition-statements.ts';
import { PartitionWal } from './partition-wal.ts';
import { PreparedBallots } from './prepared-ballots.ts';
import { RecentRows } from './recent-rows.ts';
import { type ReplacedShare, type WriteOutcome, wholeShare } from './record.ts';
import { isRowHash } from './record-bytes.ts';
import { type CachedRow, RowCache } from './row-cache.ts';
import { type MetaRow, withChecksum } from './schema.ts';
import { countRow, discountRow, type Tally, tallyColumns, tallyOf } from './tally.ts';
import { inReadTransaction } from './transaction.ts';
import { Watermarks } from './watermarks.ts';

const APPLIED: WriteOutcome = { kind: 'applied' };
const SAME: WriteOutcome = { kind: 'same' };
/** From this number of rows on, one transaction for their lookups pays off. */
const ROWS_IN_ONE_READ = 64;

/** The only connection to a live partition file. It belongs to this thread, and is synchronous. */
export class PartitionFile {
  readonly watermarks: Watermarks;
  readonly promises: PreparedBallots;
  readonly expiring: Expiring;
  readonly pageCache: PageCache;
  readonly rowCache = new RowCache();
  readonly recent: RecentRows;
  readonly wal: PartitionWal;
  readonly #sql: PreparedStatements;
  readonly #pending = new Memtable();
  /** The row in the file; the marks here may be ahead of it. */
  #meta: MetaRow;
  /** Which marks here are ahead of the file; `more`: a barrier or a floor. */
  #marksAhead: 'nothing' | 'state' | 'more' = 'nothing';
  /** Counters including the pending rows. */
  #tally: Tally;
  readonly #info = new LatestInfo();

  /** `isWalNew`: no WAL existed when the file was opened. */
  constructor(tables: Database.Database | NewTables, isWalNew = false) {
    const isNew = 'make' in tables;
    // Before any statement on the tables, because they may be another program's.
    this.#meta = isNew ? tables.meta : readMeta(tables);
    this.#sql = new PreparedStatements(isNew ? tables.make : tables);
    this.wal = new PartitionWal(this.#sql, isWalNew);
    this.#tally = tallyOf(this.#meta);
    this.watermarks = new Watermarks(this.#sql);
    this.promises = new PreparedBallots(this.#sql);
    this.expiring = new Expiring(this.#sql);
    this.pageCache = new PageCache(this.#sql);
    this.recent = new RecentRows(this.#tally.seq);
  }

  get db(): Database.Database {
    return this.#sql.db;
  }

  get isInMemory(): boolean {
    return this.#sql.areUnmade || this.#sql.db.memory;
  }

  /** Statements over a file with every row: flushes pending rows first. */
  get sql(): PreparedStatements {
    this.flush();
    return this.#sql;
  }

  /** Statements over the rows in the file itself; pending rows are newer. */
  get stored(): PreparedStatements {
    return this.#sql;
  }

  get life(): string {
    return this.#meta.life;
  }

  get highestMs(): number {
    return this.#tally.highest_ms;
  }

  get seq(): number {
    return this.#tally.seq;
  }

  marks(): PartitionMarks {
    return marksOf(this.#meta);
  }

  /** Rows that wait for a flush, and their memory. */
  get pending(): Pick<Memtable, 'size' | 'bytes' | 'find' | 'values'> {
    return this.#pending;
  }

  info(): PartitionInfo {
    return this.#info.of(this.#meta, this.#tally);
  }

  /** Returns a key's row, by byteText of the key, if it is known without reading the file. */
  rowInMemory(name: string): PendingRow | CachedRow | undefined {
    return this.#pending.lend(name) ?? this.rowCache.find(name);
  }

  /** Returns the rows above `seq` in sequence order; null when the file has some of them. */
  pendingSince(seq: number): PendingRow[] | null {
    if (this.#meta.seq > seq) return null;
    return this.#pending.lendSince(seq);
  }

  /**
   * Applies rows, each only if it is newer than what its key holds. A replaced row gets a new
   * sequence, so that readers that follow sequences see it again. The next flush stores the rows;
   * until then the caller has them in a log, or flushes itself. Returns an outcome for each
   * row that was applied: not for the last rows if the share is spent before.
   */
  apply(rows: readonly HashedRecord[], share = wholeShare): WriteOutcome[] {
    const applied = (): WriteOutcome[] => {
      const outcomes: WriteOutcome[] = [];
      for (const row of rows) {
        if (share.bytesLeft <= 0) break;
        const outcome = this.#applyRow(row, share);
        this.recent.note(row, outcome, this.#tally.seq);
        outcomes.push(outcome);
      }
      return outcomes;
    };
    const isShort = rows.length < ROWS_IN_ONE_READ || this.#sql.areUnmade;
    return isShort ? applied() : inReadTransaction(this.db, applied);
  }

  #applyRow(row: HashedRecord, share: ReplacedShare): WriteOutcome {
    const name = byteText(row.key);
    const current = this.heldRow(row.key, name);
    if (current === null) {
      // The floor acts like a tombstone of that stamp, in place of all dropped ones.
      const { floor_ms } = this.#meta;
      if (row.ms <= floor_ms) return { kind: 'stale', ms: floor_ms, tie: stampTieMax };
    } else {
      share.bytesLeft -= current.valueBytes ?? 0;
      const order = compareStamps(row, current);
      if (order === 0) return SAME;
      if (order < 0) return { kind: 'stale', ms: current.ms, tie: current.tie };
    }
    const promise = this.promises.pass(row);
    if (promise !== null) return { kind: 'promised', ms: promise.ms, tie: promise.tie };
    if (row.isPreparedBallot) return APPLIED;
    if (current !== null) discountRow(this.#tally, current);
    this.#tally.seq += 1;
    this.expiring.note(row);
    const pending = this.#pending.put(name, row, { seq: this.#tally.seq, held: current });
    this.rowCache.forget(name);
    countRow(this.#tally, pending);
    if (row.ms > this.#tally.highest_ms) this.#tally.highest_ms = row.ms;
    return APPLIED;
  }

  /** Returns a key's row without reading its value. */
  heldRow(key: Uint8Array, name = byteText(key)): HeldRow | null {
    const known = this.#pending.find(name) ?? this.rowCache.find(name);
    if (known !== undefined) return known;
    if (this.#meta.rows + this.#meta.tombstones === 0) return null; // empty: nothing to look up
    const row = this.#sql.of(statements.find).get(key);
    if (row === undefined) return null;
    const [seq, ms, tie, valueBytes, hash] = row;
    if (!isRowHash(hash)) throw this.#damaged(`record ${seq} has no row hash`);
    return { ms, tie, valueBytes, hash, replaces: seq };
  }

  /** Notes that a peer holds everything up to `seq`: see Watermarks.confirm. */
  confirm(peer: string, seq: number): void {
    this.watermarks.confirm(peer, seq, this.#tally.seq);
  }

  /** Applies a change from the log; the next flush stores it. */
  change({ state, barrierMs, floorMs }: MarksChange): void {
    const meta = this.#meta;
    const barrier_ms = Math.max(meta.barrier_ms, barrierMs);
    const floor_ms = Math.max(meta.floor_ms, floorMs);
    this.#meta = { ...meta, state: state ?? meta.state, barrier_ms, floor_ms };
    const isOfState = barrierMs + floorMs === 0 && this.#marksAhead !== 'more';
    this.#marksAhead = isOfState ? 'state' : 'more';
  }

  /** Stores the pending rows, promises, watermarks and marks in one transaction. */
  flush(): void {
    const { promises, watermarks } = this;
    if (this.unflushed === 'nothing' && !watermarks.haveChanged) return;
    const meta = withChecksum({ ...this.#meta, ...tallyColumns(this.#tally) });
    const rows = this.#pending.size;
    let [valueBytes, otherRows] = [0, 0];
    this.wal.write(() => {
      valueBytes = storeRows(this.#sql, this.#pending);
      otherRows = promises.flush() + watermarks.flush();
      if (this.#marksAhead !== 'nothing') storeMarks(this.#sql, meta);
      storeCounters(this.#sql, meta);
    });
    this.#meta = meta;
    this.#marksAhead = 'nothing';
    this.wal.noteTransaction(rows + otherRows, valueBytes);
    this.#pending.clear();
  }

  #damaged(problem: string): CodedError {
    return new CodedError('PARTITION_DAMAGED', `${this.db.name}: ${problem}`);
  }

  /** Makes a copy this device's own: new ids, no watermarks, the higher of both barriers. */
  takeOver(
    identity: Pick<MetaRow, 'incarnation' | 'life'> & Omit<PartitionMarks, 'floorMs'>,
  ): void {
    const { incarnation, life, state } = identity;
    this.flush();
    const barrier_ms = Math.max(identity.barrierMs, this.#meta.barrier_ms);
    const meta = withChecksum({ ...this.#meta, incarnation, life, state, barrier_ms });
    this.wal.write(() => {
      this.#sql.of(statements.setIdentity).run(incarnation, life, state, barrier_ms, meta.checksum);
      this.watermarks.clear();
    });
    this.#meta = meta;
    this.wal.noteTransaction(0);
  }

  /**
   * Removes tombstones at or below the floor, which replaces them, and records that had expired by
   * then: those among the `limit` rows behind the sequence `after`, in one transaction. No index
   * has them, so each row is examined. Returns the last sequence examined, or null when no rows are
   * left.
   */
  dropTombstones(after: number, limit: number): number | null {
    if (this.#tally.tombstones === 0 && !this.expiring.any) return null;
    const { last, old } = oldRows(this.sql, { after, limit, floor: this.#meta.floor_ms });
    if (old.length === 0) return last;
    const tally = tallyOf(this.#meta);
    for (const [seq, hash, valueBytes] of old) {
      if (!isRowHash(hash)) throw this.#damaged(`record ${seq} has no row hash`);
      discountRow(tally, { valueBytes, hash });
    }
    const meta = withChecksum({ ...this.#meta, ...tallyColumns(tally) });
    this.wal.write(() => {
      for (const [seq] of old) this.#sql.of(statements.remove).run(seq);
      storeCounters(this.#sql, meta);
    });
    this.#meta = meta;
    this.#tally = tally;
    this.rowCache.clear();
    this.wal.noteTransaction(old.length);
    return last;
  }

  /** Moves the WAL into the file and syncs both; false if it could not finish. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    this.flush();
    return this.wal.checkpoint(mode);
  }

  /**
   * Like PASSIVE, without waiting for the disk on this thread: see PartitionWal.checkpointInPool.
   * Rows that arrive meanwhile wait in memory, or overtake the checkpoint.
   */
  checkpointInPool(): Promise<boolean> {
    this.flush();
    return this.wal.checkpointInPool();
  }

  /** What the log has and the WAL lacks; watermarks are not in the log. */
  get unflushed(): 'nothing' | 'state' | 'more' {
    return this.#pending.size > 0 || this.promises.haveChanged ? 'more' : this.#marksAhead;
  }

  /** Checkpoints and closes. Throws if the checkpoint could not finish: the log must then stay. */
  close(): void {
    let complete = false;
    try {
      this.flush();
      complete = this.wal.isVoid || this.wal.checkpoint('TRUNCATE');
    } finally {
      this.wal.close();
    }
    if (!complete) throw new Error(`checkpoint of ${this.db.name} could not finish`);
  }
}
