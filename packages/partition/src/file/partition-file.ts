// One open partition file: last-write-wins rows, their numbering, and counters kept in the same
// transaction. What is durable in the log waits in memory for its turn to be stored.
import { byteText } from '@ringwright/base/as-buffer';
import { CodedError } from '@ringwright/base/coded-error';
import { compareStamps, stampTieMax } from '@ringwright/base/stamp';
import type Database from 'better-sqlite3';
import { Expiring } from './expiring.ts';
import type { MarksChange } from './marks-change.ts';
import {
  type HashedRecord,
  type HeldRow,
  Memtable,
  type PendingRow,
  pendingRow,
} from './memtable.ts';
import type { NewTables } from './new-partition-file.ts';
import { PageCache } from './page-cache.ts';
import type { PartitionInfo, PartitionMarks } from './partition-info.ts';
import { LatestInfo, marksOf, readMeta } from './partition-meta.ts';
import {
  oldRows,
  statements,
  storeCounters,
  storeMarks,
  storeRows,
} from './partition-statements.ts';
import { PartitionWal } from './partition-wal.ts';
import { PreparedBallots } from './prepared-ballots.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { RecentRows } from './recent-rows.ts';
import type { WriteOutcome } from './record.ts';
import { isRowHash } from './record-bytes.ts';
import { type CachedRow, RowCache } from './row-cache.ts';
import { type MetaRow, withChecksum } from './schema.ts';
import { countRow, discountRow, type Tally, tallyColumns, tallyOf } from './tally.ts';
import { inReadTransaction } from './transaction.ts';
import { Watermarks } from './watermarks.ts';

const APPLIED: WriteOutcome = { kind: 'applied' };
const SAME: WriteOutcome = { kind: 'same' };
/** From so many on, a transaction for their lookups pays. */
const ROWS_IN_ONE_READ = 64;

/** The one connection to a live partition file, of this thread; everything is synchronous. */
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
  /** The row in the file; its marks may be ahead of it. */
  #meta: MetaRow;
  /** How far: `more` is a barrier or a floor. */
  #marksAhead: 'nothing' | 'state' | 'more' = 'nothing';
  /** Its counters with the pending rows. */
  #tally: Tally;
  readonly #info = new LatestInfo();

  /** `isWalNew`: there was no WAL when the file was opened. */
  constructor(tables: Database.Database | NewTables, isWalNew = false) {
    const isNew = 'make' in tables;
    // Before any statement on its tables: these may not be ours.
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

  /** Statements over a file that has every row: pending ones are stored first. */
  get sql(): PreparedStatements {
    this.flush();
    return this.#sql;
  }

  /** Statements over the rows that the file itself has; pending ones are newer. */
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

  /** Rows and memory that wait to be stored. */
  get pending(): Pick<Memtable, 'size' | 'bytes' | 'find' | 'values'> {
    return this.#pending;
  }

  info(): PartitionInfo {
    return this.#info.of(this.#meta, this.#tally);
  }

  /** The row of a key, by byteText of that, where no look at the file is needed. */
  rowInMemory(name: string): PendingRow | CachedRow | undefined {
    return this.#pending.lend(name) ?? this.rowCache.find(name);
  }

  /** Rows numbered above `seq`, in that order; null when the file has some of them. */
  pendingSince(seq: number): PendingRow[] | null {
    if (this.#meta.seq > seq) return null;
    return this.#pending.lendSince(seq);
  }

  /**
   * Takes rows, each only if it is newer than what the key holds. A row that replaces another moves
   * to a new sequence number, so that whoever follows the numbers sees it again. The next flush
   * brings them to the file: the caller has them in a log, or flushes itself.
   */
  apply(rows: readonly HashedRecord[]): WriteOutcome[] {
    const applied = (): WriteOutcome[] =>
      rows.map((row) => {
        const outcome = this.#applyRow(row);
        this.recent.note(row, outcome, this.#tally.seq);
        return outcome;
      });
    const isShort = rows.length < ROWS_IN_ONE_READ || this.#sql.areUnmade;
    return isShort ? applied() : inReadTransaction(this.db, applied);
  }

  #applyRow(row: HashedRecord): WriteOutcome {
    const name = byteText(row.key);
    const held = this.heldRow(row.key, name);
    if (held === null) {
      // As if a tombstone of that stamp were here: it stands for all that were dropped.
      const { floor_ms } = this.#meta;
      if (row.ms <= floor_ms) return { kind: 'stale', ms: floor_ms, tie: stampTieMax };
    } else {
      const order = compareStamps(row, held);
      if (order === 0) return SAME;
      if (order < 0) return { kind: 'stale', ms: held.ms, tie: held.tie };
    }
    const promise = this.promises.pass(row);
    if (promise !== null) return { kind: 'promised', ms: promise.ms, tie: promise.tie };
    if (row.isPromise) return APPLIED;
    if (held !== null) discountRow(this.#tally, held);
    this.#tally.seq += 1;
    this.expiring.note(row);
    const pending = pendingRow(row, { seq: this.#tally.seq, held });
    this.#pending.put(name, pending);
    this.rowCache.forget(name);
    countRow(this.#tally, pending);
    if (row.ms > this.#tally.highest_ms) this.#tally.highest_ms = row.ms;
    return APPLIED;
  }

  /** The row of a key but for its value, which is not looked at. */
  heldRow(key: Uint8Array, name = byteText(key)): HeldRow | null {
    const known = this.#pending.find(name) ?? this.rowCache.find(name);
    if (known !== undefined) return known;
    if (this.#meta.rows + this.#meta.tombstones === 0) return null; // no need to look
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

  /** Takes what the log says of the file; it is stored with the next flush. */
  change({ state, barrierMs, floorMs }: MarksChange): void {
    const meta = this.#meta;
    const barrier_ms = Math.max(meta.barrier_ms, barrierMs);
    const floor_ms = Math.max(meta.floor_ms, floorMs);
    this.#meta = { ...meta, state: state ?? meta.state, barrier_ms, floor_ms };
    const isOfState = barrierMs + floorMs === 0 && this.#marksAhead !== 'more';
    this.#marksAhead = isOfState ? 'state' : 'more';
  }

  /** Stores the pending rows, promises, watermarks and marks, in one transaction. */
  flush(): void {
    const { promises, watermarks } = this;
    if (this.unflushed === 'nothing' && !watermarks.haveChanged) return;
    const meta = withChecksum({ ...this.#meta, ...tallyColumns(this.#tally) });
    const rows = this.#pending.size;
    let [valueBytes, others] = [0, 0];
    this.wal.write(() => {
      valueBytes = storeRows(this.#sql, this.#pending);
      others = promises.flush() + watermarks.flush();
      if (this.#marksAhead !== 'nothing') storeMarks(this.#sql, meta);
      storeCounters(this.#sql, meta);
    });
    this.#meta = meta;
    this.#marksAhead = 'nothing';
    this.wal.noteTransaction(rows + others, valueBytes);
    this.#pending.clear();
  }

  #damaged(what: string): CodedError {
    return new CodedError('PARTITION_DAMAGED', `${this.db.name}: ${what}`);
  }

  /** Makes a copy this device's own: new names, no watermarks, the higher barrier of both. */
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
   * Removes tombstones at or below the floor, which stands for them from now on, and records that
   * had expired by then: those among the `limit` rows behind the sequence `after`, in one
   * transaction. No index has them, so every row must be looked at. Returns the last one's
   * sequence, or null when there are no more.
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

  /** Moves the WAL into the file and syncs both; false when something kept it from finishing. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    this.flush();
    return this.wal.checkpoint(mode);
  }

  /**
   * As PASSIVE, without waiting for the disk on this thread: see PartitionWal.checkpointAside. Rows
   * that come meanwhile wait in memory, or overtake it.
   */
  checkpointAside(): Promise<boolean> {
    this.flush();
    return this.wal.checkpointAside();
  }

  /** What the log has and the WAL has not; watermarks are not in the log. */
  get unflushed(): 'nothing' | 'state' | 'more' {
    return this.#pending.size > 0 || this.promises.haveChanged ? 'more' : this.#marksAhead;
  }

  /** Checkpoints and closes. Throws when that could not finish: the log must then stay. */
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
