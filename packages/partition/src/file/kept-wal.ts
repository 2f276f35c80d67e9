// The second name of a WAL that SQLite takes for done, while its file may need it still.
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { CodedError } from '@ringwright/base/coded-error';

/** Throws an Error of the file system, also where there is one already. */
export function keepWal(file: string): void {
  linkSync(`${file}-wal`, keptWal(file));
}

/** Before a file is opened: brings back the WAL that it may need, if a sync of it has failed. */
export function restoreWal(file: string): void {
  if (!existsSync(keptWal(file))) return;
  // After a SIGKILL both names may be of one file, and a rename would leave them both.
  rmSync(`${file}-wal`, { force: true });
  renameSync(keptWal(file), `${file}-wal`);
}

function keptWal(file: string): string {
  return `${file}-wal.kept`;
}

/** After a sync that failed. */
export function notSynced(file: string, cause?: unknown): CodedError {
  const hint = 'check the disk, then restart: its WAL is kept and used again';
  return new CodedError('STORE_FAILED', `${file} could not be synced`, { hint, cause });
}
