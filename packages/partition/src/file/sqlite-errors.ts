// Classifies SQLite's errors: a file that cannot be trusted, a failed disk, or a bug of ours. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { codeOf, messageOf } from '@ringwright/base/thrown';
import Database from 'better-sqlite3';
import type { PartitionRef } from './data-paths.ts';

// A constraint fails only if an index or a counter is not what this program wrote.
const DAMAGE =
  /^SQLITE_(CORRUPT|NOTADB|FORMAT|MISMATCH|CONSTRAINT|IOERR_(READ|SHORT_READ|CORRUPTFS)$)/;

/**
 * Whether the error concerns one file's content, or a place of it that the disk cannot read: other
 * devices may have it. Any other error casts doubt on the whole disk.
 */
export function isDamage(error: unknown): boolean {
  if (error instanceof CodedError) return error.code === 'PARTITION_DAMAGED';
  return DAMAGE.test(codeOf(error));
}

/** Whether the error comes from SQLite, or from the disk behind it, and not from bad arguments. */
export function isSqliteError(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_');
}

/** Whether a file could not be opened, for example because the process is out of descriptors. */
export function isCannotOpen(error: unknown): boolean {
  return /^(SQLITE_CANTOPEN|EMFILE$|ENFILE$)/.test(codeOf(error));
}

/** SQLite's messages say what failed, but not in which of a thousand files. */
export function withFileName(error: unknown, file: string | undefined): unknown {
  if (!(error instanceof Database.SqliteError) || file === undefined) return error;
  return new Database.SqliteError(`${file}: ${error.message}`, error.code);
}

/** Returns any damage as PARTITION_DAMAGED, with the original as cause. */
export function damageError(error: unknown, { keyspace, partition }: PartitionRef): CodedError {
  if (error instanceof CodedError) return error;
  const reason = messageOf(error);
  return new CodedError('PARTITION_DAMAGED', `file of ${keyspace}/${partition}: ${reason}`, {
    hint: 'drop the partition: its folder goes to the trash, and it refills from its peers',
    details: { keyspace, partition },
    cause: error,
  });
}
