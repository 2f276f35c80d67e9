// Reading a small file that may not be there yet: only a missing file counts as missing.
import { CodedError } from '@ringwright/base/coded-error';
import { stateFileBytesMax } from '@ringwright/base/limits-store';
import { readRegularFile } from './read-regular-file.ts';

/** The text read by `parse`, or null when there is no such file. Throws DISK_FAILED. */
export async function readIfThere<T>(file: string, parse: (text: string) => T): Promise<T | null> {
  let text: string;
  try {
    text = String(await readRegularFile(file, stateFileBytesMax));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null;
    throw unreadable(file, cause);
  }
  try {
    return parse(text);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): CodedError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CodedError('DISK_FAILED', `${file} cannot be read: ${reason}`, {
    hint: 'a damaged disk, or a file changed by hand: put back the file as it was',
    details: { file },
    cause,
  });
}
