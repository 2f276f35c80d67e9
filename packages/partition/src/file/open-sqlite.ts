// Opens a partition database with the settings that every promise here rests on, and proves that
// SQLite keeps them; and the pages of one open file that it keeps in memory.
import { CodedError } from '@ringwright/base/coded-error';
import { fileCacheBytesMax } from '@ringwright/base/limits-store';
import { once } from '@ringwright/base/once';
import Database from 'better-sqlite3';
import type { PreparedStatements } from './partition-statements.ts';

/** First version without the WAL-reset corruption race (SQLite's release notes). */
const SQLITE_VERSION_MIN = [3, 51, 3] as const;

const CACHE_KIB_MAX = fileCacheBytesMax / 1024;

/** `read`: the value that SQLite must report afterwards. */
interface Setting {
  readonly name: string;
  readonly set: string;
  readonly read: string | number;
}

// locking_mode comes first: set before the first access, it keeps the WAL index in memory. So no
// -shm file exists, and any other process gets SQLITE_BUSY.
const OF_THE_FILE: readonly Setting[] = [
  { name: 'locking_mode', set: 'EXCLUSIVE', read: 'exclusive' },
  { name: 'journal_mode', set: 'WAL', read: 'wal' },
];

// NORMAL is safe here, because the commit log is the durable copy until a checkpoint has synced the
// file.
const OF_THE_BUILD: readonly Setting[] = [
  { name: 'synchronous', set: 'NORMAL', read: 1 },
  { name: 'wal_autocheckpoint', set: '0', read: 0 },
  { name: 'mmap_size', set: '0', read: 0 },
  { name: 'cell_size_check', set: 'ON', read: 1 },
  { name: 'trusted_schema', set: 'OFF', read: 0 },
  { name: 'temp_store', set: 'MEMORY', read: 2 },
  { name: 'cache_size', set: `-${CACHE_KIB_MAX}`, read: -CACHE_KIB_MAX },
];

/**
 * SQLite allocates 20 pages with the first page it caches, unless the cache is tiny at that moment.
 * With a thousand files open that is 60 MB for files that are hardly used.
 */
const giveCacheBack = 'PRAGMA cache_size = 2; PRAGMA shrink_memory; PRAGMA user_version;';

// In one call: a statement for each would be garbage whose size the collector does not know.
const SET_ALL = [...OF_THE_FILE.map(setting), giveCacheBack, ...OF_THE_BUILD.map(setting)].join(
  ' ',
);

function setting({ name, set }: Setting): string {
  return `PRAGMA ${name} = ${set};`;
}

let isBuildProved = false;

/**
 * Opens an existing file. Throws STORE_UNFIT when SQLite does not apply a setting, or SqliteError.
 */
export function openSqlite(file: string): Database.Database {
  checkVersion();
  const db = new Database(file, { fileMustExist: true, timeout: 0 });
  try {
    db.exec(SET_ALL);
    for (const one of OF_THE_FILE) prove(db, one);
    // A build setting that took effect for one file takes effect for every file.
    if (!isBuildProved) for (const one of OF_THE_BUILD) prove(db, one);
    isBuildProved = true;
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function prove(db: Database.Database, { name, read: expected }: Setting): void {
  // A build without memory mapping reports nothing for mmap_size, which is equivalent to 0.
  const read: unknown = db.pragma(name, { simple: true }) ?? 0;
  if (read === expected) return;
  const message = `${db.name}: ${name} is ${JSON.stringify(read)}, expected ${expected}`;
  // The one setting that the file itself can refuse, if its header is damaged.
  if (name === 'journal_mode') throw new CodedError('PARTITION_DAMAGED', message);
  throw unfit(message);
}

/**
 * Queries an empty database: in a real one any SELECT reads the schema and would be the first
 * access.
 */
const checkVersion = once((): true => {
  const db = new Database(':memory:');
  const text = String(db.prepare('SELECT sqlite_version()').pluck().get());
  db.close();
  const found = text.split('.').map(Number);
  for (const [index, least] of SQLITE_VERSION_MIN.entries()) {
    const part = found[index] ?? 0;
    if (part > least) return true;
    if (part < least)
      throw unfit(`SQLite is ${text}, needed is at least ${SQLITE_VERSION_MIN.join('.')}`);
  }
  return true;
});

function unfit(message: string): CodedError {
  return new CodedError('STORE_UNFIT', message, { hint: 'reinstall the better-sqlite3 package' });
}

/**
 * Opens a file of unknown content for an audit: nothing in it may execute. The tables stay
 * unchanged. `mappedBytes`: how much of the file is memory-mapped.
 */
export function openUntrusted(file: string, mappedBytes = 0): Database.Database {
  const db = new Database(file, { fileMustExist: true, timeout: 0 });
  for (const setting of ['locking_mode = EXCLUSIVE', 'trusted_schema = OFF']) db.pragma(setting);
  db.pragma(`mmap_size = ${mappedBytes}`);
  db.pragma('cell_size_check = ON');
  return db;
}

/** Of one open file. */
export class PageCache {
  readonly #sql: PreparedStatements;
  #bytesMax = fileCacheBytesMax;

  constructor(sql: PreparedStatements) {
    this.#sql = sql;
  }

  /** Sets the limit; within a transaction the cache may exceed it. */
  limit(bytesMax: number): void {
    if (bytesMax === this.#bytesMax) return;
    this.#bytesMax = bytesMax;
    if (!this.#sql.areUnmade) this.#sql.db.exec(this.#setLimit());
  }

  /** Frees the memory of all pages except the first. */
  trim(): void {
    this.#sql.db.exec(`${giveCacheBack} ${this.#setLimit()}`);
  }

  #setLimit(): string {
    return `PRAGMA cache_size = -${Math.floor(this.#bytesMax / 1024)};`;
  }
}
