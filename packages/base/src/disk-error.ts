// Errors of the file system and of SQLite as errors with a code and a hint. Pure.
import { CodedError } from './coded-error.ts';
import { codeOf, messageOf } from './thrown.ts';

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'DISK_FULL']);

const HINTS: Readonly<Record<string, string>> = {
  ENOENT: 'a folder in that path does not exist: create it, or name another path',
  EROFS: 'the file system is mounted read-only: find the cause in the system log, then remount it',
  SQLITE_READONLY: 'the file, or its file system, is read-only for this user',
  ENOTDIR: 'a file exists where a directory is needed: check each part of the path',
  EEXIST: 'a file exists where a directory is needed',
  EISDIR: 'a directory exists where a file is needed',
  EIO: 'the disk is failing: look into the system log',
  EMFILE: 'this process may not open more files: raise ulimit -n, or LimitNOFILE= of its unit',
  ENFILE: 'this machine may not open more files: raise fs.file-max (sysctl)',
  EFBIG: 'a file may not grow: see ulimit -f of this process, and the limits of the file system',
  SQLITE_BUSY: 'another program has this file open: close it there (fuser FILE shows where)',
};

/** What to do if a disk is full although it has free bytes. */
export const otherLimits = 'free inodes if df -i shows none, or raise the quota of this user';

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
  const isFileError = 'syscall' in error && !('address' in error);
  if (!isFileError && !FULL.has(code) && !code.startsWith('SQLITE_')) return null;
  const path = 'path' in error ? String(error.path) : '';
  return new CodedError('DISK_FAILED', error.message, {
    hint: hintOf(code),
    details: { code, path },
    cause: error,
  });
}

/**
 * An error on its way from a helper process. `code` is null for an error that is not of the disk:
 * it stays without a code, so that nobody takes it for the failure of a peer.
 */
export interface Failure {
  readonly code: 'DISK_FULL' | 'DISK_FAILED' | null;
  readonly message: string;
}

export function failureBy(error: unknown): Failure {
  const message = messageOf(error);
  if (isDiskFull(error)) return { code: 'DISK_FULL', message };
  return { code: diskError(error) === null ? null : 'DISK_FAILED', message };
}

/** The error that the other process met. */
export function errorOf({ code, message }: Failure): Error {
  return code === null ? new Error(message) : new CodedError(code, message);
}

/** Returns a CodedError, converting a disk error. Any other error is rethrown. */
export function codedOrDisk(error: unknown): CodedError {
  const coded = error instanceof CodedError ? error : diskError(error);
  if (coded === null) throw error;
  return coded;
}

function hintOf(code: string): string {
  if (FULL.has(code)) return `free some space (or ${otherLimits}), then repeat the command`;
  return HINTS[code] ?? 'check the path, its owner and mode, and the user that runs this program';
}
