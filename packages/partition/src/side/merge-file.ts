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
  const source = openDataFile(from);
  try {
    const target = openDataFile(into);
    const handle = openSync(into, 'r');
    try {
      target.pageCache.limit(childCacheBytes);
      for (let [since, more] = [first, true]; more; ) {
        const page = storedSince(source, since, {
          rowsMax: ROWS_AT_ONCE,
          bytesMax: childSyncBytes,
        });
        target.apply(page.rows.map((row) => ({ ...row, isPromise: false })));
        target.flush();
        // Synced here, in pieces: others who wait for the disk do not wait for all of it.
        target.db.pragma('synchronous = OFF');
        if (!target.checkpoint('PASSIVE')) throw new Error(`${into} could not be checkpointed`);
        fdatasyncSync(handle);
        [since, more] = [page.lastSeq, page.more];
      }
    } finally {
      try {
        target.close();
      } finally {
        closeSync(handle);
      }
    }
  } finally {
    source.wal.discard();
  }
}
