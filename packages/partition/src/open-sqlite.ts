// Opens a partition database with the settings every promise here rests on, and proves that they
// hold.
import { CodedError } from '@ringwright/base/coded-error';
import Database from 'better-sqlite3';
import { once } from './once.ts';

/** First version without the WAL-reset corruption race (reliability research F2). */
const SQLITE_VERSION_MIN = [3, 51, 3] as const;

/** Of one file, when it is used much. */
const CACHE_KIB = 1_024;

// locking_mode comes first: set before the first access it keeps the WAL index in memory, so no
// -shm file exists and any other process gets SQLITE_BUSY. NORMAL is safe here because the commit
// log is the durable copy until a checkpoint has synced the file.
const SETTINGS: readonly (readonly [name: string, set: string, read: string | number])[] = [
  ['locking_mode', 'EXCLUSIVE', 'exclusive'],
  ['journal_mode', 'WAL', 'wal'],
  ['synchronous', 'NORMAL', 1],
  ['wal_autocheckpoint', '0', 0],
  // Until the first page is read: see trimCache.
  ['cache_size', '2', 2],
  ['mmap_size', '0', 0],
  ['cell_size_check', 'ON', 1],
  ['trusted_schema', 'OFF', 0],
  ['temp_store', 'MEMORY', 2],
];

/**
 * Opens an existing file. Throws STORE_UNFIT when SQLite does not keep a setting, or SqliteError.
 */
export function openSqlite(file: string): Database.Database {
  checkVersion();
  const db = new Database(file, { fileMustExist: true, timeout: 0 });
  try {
    for (const [name, set, expected] of SETTINGS) {
      db.pragma(`${name} = ${set}`);
      // A build without memory mapping answers nothing at all for mmap_size, which is as good as 0.
      const read: unknown = db.pragma(name, { simple: true }) ?? 0;
      if (read === expected) continue;
      const message = `${file}: ${name} is ${JSON.stringify(read)}, expected ${expected}`;
      // The one setting that the file itself can refuse, when its header is damaged.
      if (name === 'journal_mode') throw new CodedError('PARTITION_DAMAGED', message);
      throw unfit(message);
    }
    trimCache(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * SQLite takes 20 pages at once with the first page it caches, unless the cache is tiny just then.
 * With a thousand files open that is 60 MB for those that are hardly used.
 */
function trimCache(db: Database.Database): void {
  db.pragma('shrink_memory');
  db.pragma('user_version');
  db.pragma(`cache_size = -${CACHE_KIB}`);
  const read: unknown = db.pragma('cache_size', { simple: true });
  if (read !== -CACHE_KIB) throw unfit(`cache_size is ${String(read)}, expected -${CACHE_KIB}`);
}

/** Asked of an empty database: any SELECT reads the schema, and would be the first access. */
const checkVersion = once((): true => {
  const db = new Database(':memory:');
  const text = String(db.prepare('SELECT sqlite_version()').pluck().get());
  db.close();
  const found = text.split('.').map(Number);
  for (const [index, least] of SQLITE_VERSION_MIN.entries()) {
    const part = found[index] ?? 0;
    if (part > least) return true;
    if (part < least) throw unfit(`SQLite is ${text}, needed is ${SQLITE_VERSION_MIN.join('.')}`);
  }
  return true;
});

function unfit(message: string): CodedError {
  return new CodedError('STORE_UNFIT', message, { hint: 'reinstall the better-sqlite3 package' });
}

/**
 * Opens a file of unknown content to audit it: nothing in it may act, and nothing in it is changed.
 */
export function openUntrusted(file: string): Database.Database {
  const db = new Database(file, { fileMustExist: true, timeout: 0 });
  for (const setting of ['locking_mode = EXCLUSIVE', 'trusted_schema = OFF', 'mmap_size = 0']) {
    db.pragma(setting);
  }
  db.pragma('cell_size_check = ON');
  return db;
}
