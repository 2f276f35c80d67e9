// Explains a failed start that the disk caused: in a sentence, with what to do about it.
import { CodedError } from '@ringwright/base/coded-error';
import { diskError, isDiskFull } from '@ringwright/base/disk-error';
import { dataPaths } from '@ringwright/partition/file/data-paths';
import { roomToStart } from '@ringwright/partition/parts/room-to-start';

/** Returns DISK_FULL with the space that a start needs, DISK_FAILED, or the error itself. */
export async function startFailure(error: unknown, directory: string): Promise<unknown> {
  if (!isDiskFull(error)) return diskError(error) ?? error;
  const { freeBytes, neededBytes, logBytes } = await roomToStart(directory);
  const message =
    `the disk of ${directory} is full: ${freeBytes} bytes are free, a start needs ${neededBytes}` +
    ` (the log to be replayed has ${logBytes}); nothing is lost`;
  return new CodedError('DISK_FULL', message, {
    hint: `free so much, then start again; dropped partitions lie in ${dataPaths.trash(directory)}`,
    details: { directory, freeBytes, neededBytes, logBytes },
    cause: error,
  });
}
