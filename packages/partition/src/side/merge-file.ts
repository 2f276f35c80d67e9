// Merges the rows of one partition file into another. Runs in a helper process.
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { childCacheBytes, childSyncBytes } from '@ringwright/base/limits-copies';
import { openDataFile } from '../file/open-files.ts';
import { storedSince } from '../file/read-records.ts';

/** A row changes a few pages, so this is some 16 MiB. */
const ROWS_AT_ONCE = 1_024;

/** Files that nobody else has open, each with its WAL beside it, if any. */
export interface FilesToMerge {
  readonly from: string;
  /** Only rows above this sequence are merged. */
  readonly since: number;
  readonly into: string;
}

/** Keeps the newer row of each key, like a live file. Syncs `into`. Throws RECORD_DAMAGED. */
export function mergeFile({ from, since: first, into }: FilesToMerge): void {
  using ends = new DisposableStack();
  const source = ends.adopt(openDataFile(from), ({ wal }) => wal.discard());
  // Closed after the database, because closing it drops the database's locks.
  const handle = ends.adopt(openSync(into, 'r'), closeSync);
  const target = openDataFile(into);
  try {
    target.pageCache.limit(childCacheBytes);
    for (let [since, more] = [first, true]; more; ) {
      const bounds = { rowsMax: ROWS_AT_ONCE, bytesMax: childSyncBytes };
      const page = storedSince(source, since, bounds);
      target.apply(page.rows.map((row) => ({ ...row, isPromise: false })));
      target.flush();
      // Synced here in pieces, so that others who need the disk do not wait for everything.
      target.db.pragma('synchronous = OFF');
      if (!target.checkpoint('PASSIVE')) throw new Error(`${into} could not be checkpointed`);
      fdatasyncSync(handle);
      [since, more] = [page.lastSeq, page.more];
    }
  } finally {
    target.close();
  }
}
