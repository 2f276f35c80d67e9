// Errors of the file system and of SQLite as errors with a code and a hint. Pure.
import { CodedError } from './coded-error.ts';
import { codeOf } from './thrown.ts';

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL']);

const HINTS: Readonly<Record<string, string>> = {
  ENOENT: 'a folder of that path is not there: make it, or name another path',
  EROFS: 'the file system is mounted read-only: mount it anew, and look into its log for why',
  SQLITE_READONLY: 'the file, or its file system, is read-only for this user',
  ENOTDIR: 'a file stands where a directory is wanted: see each part of the path',
  EEXIST: 'a file stands where a directory is wanted',
  EISDIR: 'a directory stands where a file is wanted',
  EIO: 'the disk fails: look into the log of the machine',
};

/** Whether the error, or its cause, is a full disk. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return FULL.has(codeOf(error)) || isDiskFull(error.cause);
}

/** Returns DISK_FAILED for an error of the file system or SQLite; null for any other. */
export function diskError(error: unknown): CodedError | null {
  if (!(error instanceof Error) || error instanceof CodedError) return null;
  const code = codeOf(error);
  // Errors of connections have an address.
  const ofFiles = 'syscall' in error && !('address' in error);
  if (!ofFiles && !FULL.has(code) && !code.startsWith('SQLITE_')) return null;
  const path = 'path' in error ? String(error.path) : '';
  return new CodedError('DISK_FAILED', error.message, {
    hint: hintOf(code),
    details: { code, path },
    cause: error,
  });
}

/** Returns a CodedError, converting a disk error. Any other error is rethrown. */
export function codedOrDisk(error: unknown): CodedError {
  const coded = error instanceof CodedError ? error : diskError(error);
  if (coded === null) throw error;
  return coded;
}

function hintOf(code: string): string {
  if (FULL.has(code)) return 'free some space, then type the command again';
  return HINTS[code] ?? 'see the path, its owner and mode, and the user that this runs as';
}
