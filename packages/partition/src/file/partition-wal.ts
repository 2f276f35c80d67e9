// The write-ahead log of an open partition file: its length, and its checkpoints.
import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { must } from '@ringwright/base/assert';
import type { CodedError } from '@ringwright/base/coded-error';
import type Database from 'better-sqlite3';
import { type ChangedPages, walFrameBytes, walHeaderBytes } from './changed-pages.ts';
import { keepWal, notSynced } from './kept-wal.ts';
import type { PreparedStatements } from './partition-statements.ts';
import { pageBytes } from './schema.ts';
import { syncsOfSystem } from './syncs.ts';
import { inTransaction, unsynced } from './transaction.ts';

/** Upper bounds for one transaction and one row: a few pages each. */
const BYTES_PER_TRANSACTION = 8_192;
const BYTES_PER_ROW = 12_288;

const NO_HEADER = Buffer.alloc(walHeaderBytes);

/** `busy` is not 0 if it could not finish; frames in the WAL, and those moved to the file. */
type CheckpointRow = [busy: number, frames: number, moved: number];

/** A checkpoint whose syncs run in the thread pool. */
interface PoolCheckpoint {
  /** What is being synced: the WAL, the file, or the WAL without its header. */
  stage: 'wal' | 'file' | 'header';
  /** Set when the file was written or closed meanwhile. */
  overtaken: boolean;
}

/** All writes, checkpoints and closes of an open file go through this class. */
export class PartitionWal {
  /** Number of times the file itself may have been written: only checkpoints write it. */
  checkpoints = 0;
  /** Notified of each page that a checkpoint is about to write. */
  readonly watchers = new Set<ChangedPages>();
  /** An upper bound of the bytes in the WAL, made exact when it grows large. */
  #bytes = 0;
  #poolCheckpoint: PoolCheckpoint | null = null;
  /** Whether no WAL exists, or all of it is in the synced file and its header is erased on disk. */
  #isVoid: boolean;
  /** Whether the WAL's name is durable. A killed process may have left it without a sync. */
  #isNamed = false;
  /** A sync of the file has failed: it is unknown whether the disk has the moved pages. */
  #isLost = false;
  /** The WAL has a second name, so SQLite may remove the first. */
  #isKept = false;
  #isGivenUp = false;
  /**
   * For syncs in the pool and here: Linux reports an error once per descriptor. Open from before
   * the file is written until SQLite has closed it: closing any descriptor drops SQLite's locks.
   */
  readonly #fileFds: number[] = [];
  readonly #sql: PreparedStatements;
  readonly #syncs: typeof syncsOfSystem;

  /** `isNew`: no WAL existed when the file was opened. */
  constructor(sql: PreparedStatements, isNew: boolean, syncs = syncsOfSystem) {
    this.#sql = sql;
    this.#syncs = syncs;
    this.#isVoid = isNew;
  }

  /** Whether nothing in the WAL is needed, even after a power loss. */
  get isVoid(): boolean {
    return this.#isVoid;
  }

  /** Whether a write now would wait for the disk, or make a running checkpoint worthless. */
  get isAside(): boolean {
    return this.#poolCheckpoint !== null && !this.#poolCheckpoint.overtaken;
  }

  /** Runs a transaction that writes. */
  write(work: () => void): void {
    this.#overtake();
    const { db } = this.#sql;
    if (!this.#isVoid) return inTransaction(db, work);
    this.#isVoid = false;
    // Otherwise SQLite would sync the new header, so that the old one cannot validate old frames.
    unsynced(db, () => inTransaction(db, work));
  }

  /** Counts a transaction that has changed so many rows. */
  noteTransaction(rows: number, valueBytes = 0): void {
    this.#bytes += BYTES_PER_TRANSACTION + rows * BYTES_PER_ROW + valueBytes;
  }

  /** Returns a lower bound of the WAL file's length. */
  bytesMin(): number {
    if (this.#bytes === 0) return 0;
    const [, frames] = this.#run('NOOP');
    return frames === 0 ? 0 : walHeaderBytes + frames * walFrameBytes;
  }

  /**
   * Returns how many bytes of the WAL a reader needs beside the file. Both stay unchanged until the
   * next checkpoint. A running checkpoint aside stops before it writes the file.
   */
  stopCheckpoint(): number {
    this.#checkKept();
    if (this.#poolCheckpoint?.stage === 'wal') this.#poolCheckpoint.overtaken = true;
    const [, frames, moved] = this.#run('NOOP');
    return frames === moved ? 0 : walHeaderBytes + frames * walFrameBytes;
  }

  /** Moves the WAL into the file and syncs both; false if it could not finish. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    this.#overtake();
    return this.#checkpoint(mode);
  }

  /**
   * The same without waiting for the disk on this thread. False also if it was overtaken: later
   * writes may be in the WAL only. The order leaves a whole WAL, or a whole file without a valid
   * WAL, after a power loss at any point: sync the WAL, and once its name; move it into the
   * file; sync the file; erase the WAL's header and sync that.
   */
  async checkpointInPool(): Promise<boolean> {
    // Another checkpoint is running, or none is wanted.
    if (this.#poolCheckpoint !== null || this.#isGivenUp) return false;
    this.#checkKept();
    if (this.#isVoid) return true;
    const [, frames] = this.#run('NOOP');
    // The WAL is not void then either: SQLite may never have synced its name.
    if (frames === 0) return true;
    const walFd = this.#openForSyncs();
    if (walFd === null) return false;
    const { db } = this.#sql;
    const poolCheckpoint: PoolCheckpoint = { stage: 'wal', overtaken: false };
    this.#poolCheckpoint = poolCheckpoint;
    try {
      await this.#syncs.inPool(walFd);
      if (!this.#isNamed) await this.#syncFolder();
      if (poolCheckpoint.overtaken) return false;
      // failpoint: checkpoint.wal-synced
      poolCheckpoint.stage = 'file';
      const complete = unsynced(db, () => this.#checkpoint('PASSIVE'));
      // failpoint: checkpoint.moved
      await this.#syncFile();
      // failpoint: checkpoint.file-synced
      if (poolCheckpoint.overtaken || !complete) return false;
      poolCheckpoint.stage = 'header';
      writeSync(walFd, NO_HEADER, 0, NO_HEADER.length, 0);
      await this.#syncs.inPool(walFd);
      this.#isVoid = !poolCheckpoint.overtaken;
      return this.#isVoid;
    } finally {
      this.#poolCheckpoint = null;
      closeSync(walFd);
      if (!db.open) this.#closeFds();
    }
  }

  /** Opens the WAL; null when no descriptors are left. */
  #openForSyncs(): number | null {
    const { name } = this.#sql.db;
    try {
      while (this.#fileFds.length < 2) this.#fileFds.push(openSync(name, 'r'));
      return openSync(`${name}-wal`, 'r+');
    } catch {
      return null;
    }
  }

  /** After giveUp() the folder may have been moved away. */
  async #syncFolder(): Promise<void> {
    const { db } = this.#sql;
    try {
      await this.#syncs.folder(dirname(db.name));
      this.#isNamed = true;
    } catch (error) {
      if (db.open && !this.#isGivenUp) throw error;
    }
  }

  async #syncFile(): Promise<void> {
    const fd = must(this.#fileFds[0], 'opened before the file is written');
    process.once('exit', this.#overtakeAtExit);
    try {
      await this.#syncs.inPool(fd);
    } catch (error) {
      throw this.#lose(error);
    } finally {
      process.off('exit', this.#overtakeAtExit);
    }
  }

  /** A writer or closer goes first, but not to a WAL whose frames the file may still need. */
  #overtake(): void {
    this.#checkKept();
    const poolCheckpoint = this.#poolCheckpoint;
    if (poolCheckpoint === null || poolCheckpoint.overtaken) return;
    poolCheckpoint.overtaken = true;
    if (poolCheckpoint.stage !== 'file') return;
    const fd = must(this.#fileFds[1], 'opened before the file is written');
    try {
      this.#syncs.blocking(fd);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  /** Every file is closed when a process ends. */
  readonly #overtakeAtExit = (): void => {
    try {
      this.#overtake();
    } catch {
      // The process ends, and the WAL is kept.
    }
  };

  /** SQLite considers its WAL finished and removes it on close, so the WAL gets a second name. */
  #lose(cause: unknown): CodedError {
    const { db } = this.#sql;
    if (!this.#isLost && db.open) {
      this.#isLost = true;
      try {
        keepWal(db.name);
        this.#isKept = true;
      } catch {
        // Without the second name the file stays open.
      }
    }
    return notSynced(db.name, cause);
  }

  #checkKept(): void {
    if (this.#isLost) throw notSynced(this.#sql.db.name);
  }

  /** True from some length on, between half of `bytesMax` and all of it. Cheap at each write. */
  exceeds(bytesMax: number): boolean {
    if (this.#bytes <= bytesMax) return false;
    if (this.#sql.db.memory) return true;
    const [, frames, moved] = this.#run('NOOP');
    this.#bytes = frames === moved ? 0 : frames * pageBytes;
    return this.#bytes * 2 > bytesMax;
  }

  /** Closes the file. SQLite moves what is left in the WAL, and removes the WAL. */
  close(): void {
    try {
      if (!this.#isLost) this.#overtake();
    } finally {
      if (!this.#isLost || this.#isKept) this.#closeDb();
    }
  }

  /** Says that nothing in the WAL must reach the disk any more; its folder may be moved. */
  giveUp(): void {
    this.#isGivenUp = true;
    if (this.#poolCheckpoint !== null) this.#poolCheckpoint.overtaken = true;
  }

  /** Closes a file to be deleted. SQLite syncs nothing of a file that was abandoned and moved. */
  discard(): void {
    if (!this.#isGivenUp && !this.#sql.areUnmade) this.#sql.db.exec('PRAGMA synchronous = OFF');
    this.giveUp();
    this.#closeDb();
  }

  #closeDb(): void {
    if (!this.#sql.areUnmade) this.#sql.db.close();
    if (this.#poolCheckpoint === null) this.#closeFds();
  }

  #closeFds(): void {
    for (const fd of this.#fileFds.splice(0)) closeSync(fd);
  }

  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    this.checkpoints += 1;
    if (this.watchers.size > 0) this.#tellWatchers();
    const [busy, frames, moved] = this.#run(mode);
    const complete = busy === 0 && frames === moved;
    if (complete) this.#bytes = 0;
    return complete;
  }

  #tellWatchers(): void {
    const [, frames, moved] = this.#run('NOOP');
    if (frames === moved) return;
    for (const watcher of this.watchers) watcher.note(`${this.#sql.db.name}-wal`, frames);
  }

  #run(mode: keyof typeof checkpoints): CheckpointRow {
    return this.#sql.of(checkpoints[mode]).get() ?? [1, 0, 0];
  }
}

const checkpointIn = (mode: string) => (db: Database.Database) =>
  db.prepare<unknown[], CheckpointRow>(`PRAGMA wal_checkpoint(${mode})`).raw();

const checkpoints = {
  PASSIVE: checkpointIn('PASSIVE'),
  TRUNCATE: checkpointIn('TRUNCATE'),
  NOOP: checkpointIn('NOOP'),
};
