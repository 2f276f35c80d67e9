// What SQLite throws: a file that cannot be trusted, a disk that failed, or a bug of ours. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { codeOf, messageOf } from '@ringwright/base/thrown';

// A constraint can only fail when an index or a counter is not what this program wrote.
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB|FORMAT|MISMATCH|CONSTRAINT)/;

/**
 * Whether the error speaks of one file's content; every other error puts the whole disk in doubt.
 */
export function isDamage(error: unknown): boolean {
  if (error instanceof CodedError) return error.code === 'PARTITION_DAMAGED';
  return DAMAGE.test(codeOf(error));
}

/** Whether it has put the disk in doubt already: a sync of ours that failed, or the store. */
export function isStoreFailure(error: unknown): boolean {
  return error instanceof CodedError && error.code === 'STORE_FAILED';
}

/**
 * Whether SQLite, and behind it the disk, could not do what was asked; bad arguments are not that.
 */
export function isSqliteError(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_');
}

/** Whether the disk does not give back what a file holds: another disk may have it. */
export function isUnreadable(error: unknown): boolean {
  return /^SQLITE_IOERR_(READ|SHORT_READ|CORRUPTFS)$/.test(codeOf(error));
}

/** What comes when the process is out of file descriptors, among other things. */
export function isCannotOpen(error: unknown): boolean {
  return /^(SQLITE_CANTOPEN|EMFILE$|ENFILE$)/.test(codeOf(error));
}

/** Any damage as PARTITION_DAMAGED, with the original as cause. */
export function damageError(
  error: unknown,
  place: { keyspace: string; partition: number },
): CodedError {
  if (error instanceof CodedError) return error;
  const { keyspace, partition } = place;
  const reason = messageOf(error);
  return new CodedError('PARTITION_DAMAGED', `file of ${keyspace}/${partition}: ${reason}`, {
    hint: 'drop the partition: its folder goes to the trash, and it refills from its peers',
    details: { keyspace, partition },
    cause: error,
  });
}
