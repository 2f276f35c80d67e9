// SQLite's page cache of one open file.
import { fileCacheBytesMax } from '@ringwright/base/limits-store';
import type { PreparedStatements } from './prepared-statements.ts';

/**
 * SQLite allocates 20 pages with the first page it caches, unless the cache is tiny at that moment.
 * With a thousand files open that is 60 MB for files that are hardly used.
 */
export const giveCacheBack = 'PRAGMA cache_size = 2; PRAGMA shrink_memory; PRAGMA user_version;';

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
