// Reading a file that somebody names: a FIFO would hold the reader for ever, and a device such as
// /dev/zero has no end.
import { constants, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { CodedError } from '@ringwright/base/coded-error';

const CHUNK_BYTES = 256 * 1024;

/**
 * The whole file. Throws FILE_UNFIT, before memory is taken, when it is no regular file or has more
 * than `bytesMax` bytes; and Node's own error (ENOENT, EACCES) when it cannot be opened.
 */
export async function readRegularFile(path: string, bytesMax: number): Promise<Buffer> {
  // Before it is opened, because opening some devices does something.
  checkRegular(path, await stat(path), bytesMax);
  // The name may have become a FIFO since, and opening that waits for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    checkRegular(path, await file.stat(), bytesMax);
    // It may grow meanwhile: one byte too many tells.
    const range = { end: bytesMax, highWaterMark: CHUNK_BYTES, autoClose: false };
    const bytes = await buffer(file.createReadStream(range));
    if (bytes.length > bytesMax) throw tooLarge(path, bytes.length, bytesMax);
    return bytes;
  } finally {
    await file.close();
  }
}

/** As readRegularFile; throws FILE_UNFIT too where others than its owner may read it. */
export async function readPrivateFile(path: string, bytesMax: number): Promise<Buffer> {
  const { mode, uid } = await stat(path);
  requirePrivate(path, { mode, uid });
  return readRegularFile(path, bytesMax);
}

/**
 * A file of root's may be readable by a group: that is how a machine gives a secret to a service.
 * Throws FILE_UNFIT.
 */
export function requirePrivate(path: string, { mode, uid }: Pick<Stats, 'mode' | 'uid'>): void {
  const isOpen = (mode & (uid === 0 ? 0o037 : 0o077)) !== 0;
  if (!isOpen) return;
  const told = (mode & 0o777).toString(8).padStart(4, '0');
  throw new CodedError(
    'FILE_UNFIT',
    `${path} has mode ${told}: others than its owner may read it`,
    {
      hint: `chmod 600 ${path}`,
      details: { path, mode: told },
    },
  );
}

function checkRegular(path: string, stats: Stats, bytesMax: number): void {
  if (stats.isFile()) {
    if (stats.size > bytesMax) throw tooLarge(path, stats.size, bytesMax);
    return;
  }
  throw new CodedError('FILE_UNFIT', `${path} is ${kindOf(stats)}, not a regular file`, {
    hint: 'name a file; what a pipe gives can be put into one first',
    details: { path },
  });
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a pipe (FIFO)';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

function tooLarge(path: string, bytes: number, bytesMax: number): CodedError {
  const message = `${path} has ${bytes} bytes or more, at most ${bytesMax} are read`;
  return new CodedError('FILE_UNFIT', message, { details: { path, bytes, bytesMax } });
}
