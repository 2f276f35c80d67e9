// Merges the rows of one partition file into another, in a process beside the store.
import { mergeBytesMax, mergeRowsMax } from '@ringwright/base/limits-store';
import { openDataFile } from '../file/open-files.ts';
import { storedSince } from '../file/read-records.ts';

/** Files that nobody else has open, each with the WAL beside it, if any. */
export interface FilesToMerge {
  readonly from: string;
  readonly into: string;
}

/** The newer row of each key stays, as in a live file. `into` is synced. Throws RECORD_DAMAGED. */
export function mergeFile({ from, into }: FilesToMerge): void {
  const source = openDataFile(from);
  try {
    const target = openDataFile(into);
    try {
      for (let [since, more] = [0, true]; more; ) {
        const bounds = { rowsMax: mergeRowsMax, bytesMax: mergeBytesMax };
        const page = storedSince(source, since, bounds);
        target.apply(page.rows.map((row) => ({ ...row, isPromise: false })));
        target.flush();
        [since, more] = [page.lastSeq, page.more];
      }
    } finally {
      target.close();
    }
  } finally {
    source.wal.discard();
  }
}
