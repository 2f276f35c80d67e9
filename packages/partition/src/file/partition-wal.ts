// The write-ahead log of an open partition file: how long it is, and its way into the file.
import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { must } from '@ringwright/base/assert';
import type { CodedError } from '@ringwright/base/coded-error';
import type Database from 'better-sqlite3';
import { type ChangedPages, walFrameBytes, walHeaderBytes } from './changed-pages.ts';
import { keepWal, notSynced } from './kept-wal.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import { pageBytes } from './schema.ts';
import { syncsOfSystem } from './syncs.ts';
import { inTransaction, unsynced } from './transaction.ts';

/** Of one transaction and of one row at the worst: a few pages each. */
const BYTES_PER_TRANSACTION = 8_192;
const BYTES_PER_ROW = 12_288;

const NO_HEADER = Buffer.alloc(walHeaderBytes);

/** `busy` is not 0 when it could not finish; frames in the WAL, and those that are in the file. */
type CheckpointRow = [busy: number, frames: number, moved: number];

/** A checkpoint whose syncs run in the thread pool. */
interface Aside {
  /** What is being synced: the WAL, the file it went to, the WAL without its header. */
  at: 'wal' | 'file' | 'header';
  /** Somebody wrote to the file meanwhile, or closed it. */
  overtaken: boolean;
}

/** What writes to an open file, moves its WAL or closes it goes through here. */
export class PartitionWal {
  /** How often the file itself may have been written: nothing but a checkpoint does that. */
  checkpoints = 0;
  /** Told of each page that a checkpoint is about to write. */
  readonly watchers = new Set<ChangedPages>();
  /** An upper bound of the bytes in the WAL, made exact when it grows large. */
  #bytes = 0;
  #aside: Aside | null = null;
  /** There is none, or all of it is in the synced file and its header is gone from the disk. */
  #isVoid: boolean;
  /** Only SQLite's own sync of a header, or ours of the folder, makes the name of a new one last. */
  #isNamed: boolean;
  /** A sync of the file has failed: whether the disk has what was moved nobody can say. */
  #isLost = false;
  /** The WAL has a second name, so SQLite may remove the first. */
  #isKept = false;
  #isGivenUp = false;
  /**
   * For syncs in the pool and here: Linux tells each descriptor of an error once. Open before the
   * file is written, and until SQLite has closed it: closing any descriptor drops SQLite's locks.
   */
  readonly #fileFds: number[] = [];
  readonly #sql: PreparedStatements;
  readonly #syncs: typeof syncsOfSystem;

  /** `isNew`: there was no WAL when the file was opened. */
  constructor(sql: PreparedStatements, isNew: boolean, syncs = syncsOfSystem) {
    this.#sql = sql;
    this.#syncs = syncs;
    this.#isVoid = isNew;
    this.#isNamed = !isNew;
  }

  /** Nothing of it is needed, whatever becomes of the machine. */
  get isVoid(): boolean {
    return this.#isVoid;
  }

  /** Whether a write would wait for the disk now, or make a checkpoint worthless. */
  get isAside(): boolean {
    return this.#aside !== null && !this.#aside.overtaken;
  }

  /** A transaction that writes. */
  write(work: () => void): void {
    this.#overtake();
    const { db } = this.#sql;
    if (!this.#isVoid) return inTransaction(db, work);
    this.#isVoid = false;
    // SQLite would sync the new header, lest the old one vouch for what is left of its frames.
    unsynced(db, () => inTransaction(db, work));
  }

  /** A transaction has changed so many rows. */
  noteTransaction(rows: number, valueBytes = 0): void {
    this.#bytes += BYTES_PER_TRANSACTION + rows * BYTES_PER_ROW + valueBytes;
  }

  /** The file of it is at least so long. */
  bytesMin(): number {
    if (this.#bytes === 0) return 0;
    const [, frames] = this.#run('NOOP');
    return frames === 0 ? 0 : walHeaderBytes + frames * walFrameBytes;
  }

  /**
   * How many bytes of it a reader of the file needs beside the file: both stay as they are until
   * the next checkpoint. One that runs aside does not come to writing the file.
   */
  holdStill(): number {
    this.#checkKept();
    if (this.#aside?.at === 'wal') this.#aside.overtaken = true;
    const [, frames, moved] = this.#run('NOOP');
    return frames === moved ? 0 : walHeaderBytes + frames * walFrameBytes;
  }

  /** Moves it into the file and syncs both; false when something kept it from finishing. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    this.#overtake();
    return this.#checkpoint(mode);
  }

  /**
   * The same without waiting for the disk on this thread. False as well when it was overtaken: what
   * was written since may be in the WAL only. In this order, so that a power loss at any point
   * leaves a whole WAL, or a whole file without a valid one: the WAL is synced, and its name when
   * it is new; moved into the file; the file is synced; the WAL's header goes, and that is synced.
   */
  async checkpointAside(): Promise<boolean> {
    // Another one runs, or none is wanted.
    if (this.#aside !== null || this.#isGivenUp) return false;
    this.#checkKept();
    if (this.#isVoid) return true;
    const [, frames] = this.#run('NOOP');
    // Nor is it void then: SQLite may never have synced the name of it.
    if (frames === 0) return true;
    const walFd = this.#openForSyncs();
    if (walFd === null) return false;
    const { db } = this.#sql;
    const aside: Aside = { at: 'wal', overtaken: false };
    this.#aside = aside;
    try {
      await this.#syncs.inPool(walFd);
      if (!this.#isNamed) await this.#syncFolder();
      if (aside.overtaken) return false;
      // failpoint: checkpoint.wal-synced
      aside.at = 'file';
      const complete = unsynced(db, () => this.#checkpoint('PASSIVE'));
      // failpoint: checkpoint.moved
      await this.#syncFile();
      // failpoint: checkpoint.file-synced
      if (aside.overtaken || !complete) return false;
      aside.at = 'header';
      writeSync(walFd, NO_HEADER, 0, NO_HEADER.length, 0);
      await this.#syncs.inPool(walFd);
      this.#isVoid = !aside.overtaken;
      return this.#isVoid;
    } finally {
      this.#aside = null;
      closeSync(walFd);
      if (!db.open) this.#closeFds();
    }
  }

  /** The WAL; null when there are no descriptors left. */
  #openForSyncs(): number | null {
    const { name } = this.#sql.db;
    try {
      while (this.#fileFds.length < 2) this.#fileFds.push(openSync(name, 'r'));
      return openSync(`${name}-wal`, 'r+');
    } catch {
      return null;
    }
  }

  /** Who has given it up may have moved its folder away. */
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

  /** Who writes or closes comes first; but not to a WAL whose frames the file may still need. */
  #overtake(): void {
    this.#checkKept();
    const aside = this.#aside;
    if (aside === null || aside.overtaken) return;
    aside.overtaken = true;
    if (aside.at !== 'file') return;
    const fd = must(this.#fileFds[1], 'opened before the file is written');
    try {
      this.#syncs.here(fd);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  /** All files are closed when a process ends. */
  readonly #overtakeAtExit = (): void => {
    try {
      this.#overtake();
    } catch {
      // It ends, and the WAL is kept.
    }
  };

  /** SQLite takes its WAL for done and removes it when it closes: it keeps a second name. */
  #lose(cause: unknown): CodedError {
    const { db } = this.#sql;
    if (!this.#isLost && db.open) {
      this.#isLost = true;
      try {
        keepWal(db.name);
        this.#isKept = true;
      } catch {
        // Then the file stays open.
      }
    }
    return notSynced(db.name, cause);
  }

  #checkKept(): void {
    if (this.#isLost) throw notSynced(this.#sql.db.name);
  }

  /** Whether half of `bytesMax` waits for a checkpoint. Asked at each write, so it seldom looks. */
  exceeds(bytesMax: number): boolean {
    if (this.#bytes <= bytesMax) return false;
    if (this.#sql.db.memory) return true;
    const [, frames, moved] = this.#run('NOOP');
    this.#bytes = frames === moved ? 0 : frames * pageBytes;
    return this.#bytes * 2 > bytesMax;
  }

  /** Closes the file. SQLite moves what it may still have to move, and removes the WAL. */
  close(): void {
    try {
      if (!this.#isLost) this.#overtake();
    } finally {
      if (!this.#isLost || this.#isKept) this.#closeDb();
    }
  }

  /** Nothing of it need reach the disk any more, and its folder may be moved. */
  giveUp(): void {
    this.#isGivenUp = true;
    if (this.#aside !== null) this.#aside.overtaken = true;
  }

  /** Closes a file that goes. SQLite syncs nothing of one that was given up and moved. */
  discard(): void {
    if (!this.#isGivenUp && !this.#sql.areUnmade) this.#sql.db.exec('PRAGMA synchronous = OFF');
    this.giveUp();
    this.#closeDb();
  }

  #closeDb(): void {
    if (!this.#sql.areUnmade) this.#sql.db.close();
    if (this.#aside === null) this.#closeFds();
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
