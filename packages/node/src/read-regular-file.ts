// Reading a file that somebody names: a FIFO would hold the reader for ever, and a device such as
// /dev/zero has no end.
import { constants, createReadStream, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { textFileBytesMax } from '@ringwright/base/limits';
import { messageOf } from '@ringwright/base/thrown';

const CHUNK_BYTES = 256 * 1024;
/** What a shell passes for `< FILE`, `… |` and `<(…)`: whoever typed it has opened it himself. */
const descriptorPath = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/**
 * The whole file. Throws FILE_UNFIT, before memory is taken, when it is no regular file or has more
 * than `bytesMax` bytes; and Node's own error (ENOENT, EACCES) when it cannot be opened. Open
 * descriptors (/dev/stdin, /dev/fd/N) may be pipes too.
 */
export async function readRegularFile(path: string, bytesMax: number): Promise<Buffer> {
  if (descriptorPath.test(path)) return readBounded(createReadStream(path), path, bytesMax);
  // Before it is opened, because opening some devices does something.
  checkFile(path, await stat(path), bytesMax);
  // The name may have become a FIFO since, and opening that waits for a writer.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  checkFile(path, await file.stat(), bytesMax);
  // It may grow meanwhile: one byte too many tells.
  const range = { end: bytesMax, highWaterMark: CHUNK_BYTES, autoClose: false };
  return await readBounded(file.createReadStream(range), path, bytesMax);
}

/** The same as text, in UTF-8, of up to what one text can hold. */
export async function readRegularText(path: string): Promise<string> {
  return (await readRegularFile(path, textFileBytesMax)).toString('utf8');
}

/** All bytes of a stream such as stdin, by this name in the message. Throws FILE_UNFIT. */
export async function readBounded(
  stream: AsyncIterable<Buffer>,
  name: string,
  bytesMax: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(name, length, bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** As readRegularFile; throws FILE_UNFIT too where others than its owner may read it. */
export async function readPrivateFile(path: string, bytesMax: number): Promise<Buffer> {
  const { mode, uid } = await stat(path);
  requirePrivate(path, { mode, uid });
  return readRegularFile(path, bytesMax);
}

/** For `.catch`, where an option names the file: USAGE, or what is coded already. */
export function unreadable(what: string): (cause: unknown) => never {
  return (cause) => {
    if (cause instanceof CodedError) throw cause;
    throw new CodedError('USAGE', `${what} cannot be read: ${messageOf(cause)}`, { cause });
  };
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

function checkFile(path: string, stats: Stats, bytesMax: number): void {
  requireRegular(path, stats);
  if (stats.size > bytesMax) throw tooLarge(path, stats.size, bytesMax);
}

/** Throws FILE_UNFIT for a directory, a pipe, a socket or a device. */
export function requireRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
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
