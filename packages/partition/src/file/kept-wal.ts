// A second name for a WAL that SQLite considers finished although its file may still need it.
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { CodedError } from '@ringwright/base/coded-error';

/** Throws the file system's error, also when the second name exists already. */
export function keepWal(file: string): void {
  linkSync(`${file}-wal`, keptWal(file));
}

/** Called before a file is opened: restores the WAL that it may need after a failed sync. */
export function restoreWal(file: string): void {
  if (!existsSync(keptWal(file))) return;
  // After a SIGKILL both names may lead to one file, and a rename would then leave both.
  rmSync(`${file}-wal`, { force: true });
  renameSync(keptWal(file), `${file}-wal`);
}

function keptWal(file: string): string {
  return `${file}-wal.kept`;
}

/** The error after a failed sync. */
export function notSynced(file: string, cause?: unknown): CodedError {
  const hint = 'check the disk, then restart: its WAL is kept and used again';
  return new CodedError('STORE_FAILED', `${file} could not be synced`, { hint, cause });
}
