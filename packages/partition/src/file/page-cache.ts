// The pages of one open file that SQLite keeps in memory.
import { fileCacheBytesMax } from '@ringwright/base/limits-store';
import type { PreparedStatements } from './prepared-statements.ts';

/**
 * SQLite takes 20 pages at once with the first page it caches, unless the cache is tiny just then.
 * With a thousand files open that is 60 MB for those that are hardly used.
 */
export const giveCacheBack = 'PRAGMA cache_size = 2; PRAGMA shrink_memory; PRAGMA user_version;';

export class PageCache {
  readonly #sql: PreparedStatements;
  #bytesMax = fileCacheBytesMax;

  constructor(sql: PreparedStatements) {
    this.#sql = sql;
  }

  /** Within a transaction it may take more. */
  limit(bytesMax: number): void {
    if (bytesMax === this.#bytesMax) return;
    this.#bytesMax = bytesMax;
    if (!this.#sql.areUnmade) this.#sql.db.exec(this.#setLimit());
  }

  /** Gives the memory of all pages back but the first's. */
  trim(): void {
    this.#sql.db.exec(`${giveCacheBack} ${this.#setLimit()}`);
  }

  #setLimit(): string {
    return `PRAGMA cache_size = -${Math.floor(this.#bytesMax / 1024)};`;
  }
}
