// Merges the rows of one partition file into another, in a process beside the store.
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { childCacheBytes, childSyncBytes } from '@ringwright/base/limits-copies';
import { openDataFile } from '../file/open-files.ts';
import { storedSince } from '../file/read-records.ts';

/** Of a row a few pages change: some 16 MiB. */
const ROWS_AT_ONCE = 1_024;

/** Files that nobody else has open, each with the WAL beside it, if any. */
export interface FilesToMerge {
  readonly from: string;
  /** Rows up to this sequence are left out. */
  readonly since: number;
  readonly into: string;
}

/** The newer row of each key stays, as in a live file. `into` is synced. Throws RECORD_DAMAGED. */
export function mergeFile({ from, since: first, into }: FilesToMerge): void {
  using ends = new DisposableStack();
  const source = ends.adopt(openDataFile(from), ({ wal }) => wal.discard());
  // Closed after the database: to close it would drop the locks of that.
  const handle = ends.adopt(openSync(into, 'r'), closeSync);
  const target = openDataFile(into);
  try {
    target.pageCache.limit(childCacheBytes);
    for (let [since, more] = [first, true]; more; ) {
      const bounds = { rowsMax: ROWS_AT_ONCE, bytesMax: childSyncBytes };
      const page = storedSince(source, since, bounds);
      target.apply(page.rows.map((row) => ({ ...row, isPromise: false })));
      target.flush();
      // Synced here, in pieces: others who wait for the disk do not wait for all of it.
      target.db.pragma('synchronous = OFF');
      if (!target.checkpoint('PASSIVE')) throw new Error(`${into} could not be checkpointed`);
      fdatasyncSync(handle);
      [since, more] = [page.lastSeq, page.more];
    }
  } finally {
    target.close();
  }
}
