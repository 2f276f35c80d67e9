// Reads a file that may be something else: a FIFO would block the reader for ever, and a device
// such as /dev/zero has no end.
import { constants, createReadStream, type Stats } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { textFileBytesMax } from '@ringwright/base/limits';
import { messageOf } from '@ringwright/base/thrown';

const CHUNK_BYTES = 256 * 1024;
/** What a shell passes for `< FILE`, `… |` and `<(…)`: the user has opened it already. */
const descriptorPath = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/**
 * Returns the whole file. Throws FILE_UNFIT, before memory is taken, if it is not a regular file or
 * has more than `bytesMax` bytes; and Node's own error (ENOENT, EACCES) if it cannot be opened.
 * Open descriptors (/dev/stdin, /dev/fd/N) may be pipes too.
 */
export async function readRegularFile(path: string, bytesMax: number): Promise<Buffer> {
  if (descriptorPath.test(path)) return readBounded(createReadStream(path), path, bytesMax);
  // Checked before opening, because opening some devices has effects.
  checkFile(path, await stat(path), bytesMax);
  // The name may lead to a FIFO by now, and opening that waits for a writer.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  checkFile(path, await file.stat(), bytesMax);
  // The file may grow meanwhile: a byte beyond the limit shows that.
  const range = { end: bytesMax, highWaterMark: CHUNK_BYTES, autoClose: false };
  return await readBounded(file.createReadStream(range), path, bytesMax);
}

/**
 * Returns a whole file of a data directory, which only its server writes. Throws DISK_FAILED if
 * somebody put something else in its place, and Node's own error if it cannot be opened.
 */
export async function readOwnFile(path: string): Promise<Buffer> {
  const stats = await stat(path);
  if (stats.isFile()) return readFile(path);
  throw new CodedError('DISK_FAILED', `${path} is ${kindOf(stats)}, not a regular file`, {
    hint: 'restore that file; or move the data directory aside, and refill the device',
    details: { path },
  });
}

/** `readRegularFile` as UTF-8 text, up to the longest string. */
export async function readRegularText(path: string): Promise<string> {
  return (await readRegularFile(path, textFileBytesMax)).toString('utf8');
}

/** Returns all bytes of a stream such as stdin; messages call it `name`. Throws FILE_UNFIT. */
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

/** Like readRegularFile; also throws FILE_UNFIT if others than its owner may read it. */
export async function readPrivateFile(path: string, bytesMax: number): Promise<Buffer> {
  const { mode, uid } = await stat(path);
  requirePrivate(path, { mode, uid });
  return readRegularFile(path, bytesMax);
}

/** For `.catch`, if an option names the file: throws USAGE, or the error itself if it is coded. */
export function unreadable(what: string): (cause: unknown) => never {
  return (cause) => {
    if (cause instanceof CodedError) throw cause;
    throw new CodedError('USAGE', `${what} cannot be read: ${messageOf(cause)}`, { cause });
  };
}

/**
 * Throws FILE_UNFIT if others may read the file. Root's files may be readable by a group: that is
 * how a machine hands a secret to a service.
 */
export function requirePrivate(path: string, { mode, uid }: Pick<Stats, 'mode' | 'uid'>): void {
  const isOpen = (mode & (uid === 0 ? 0o037 : 0o077)) !== 0;
  if (!isOpen) return;
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  const message = `${path} has mode ${octal}: users other than its owner may read it`;
  throw new CodedError('FILE_UNFIT', message, {
    hint: `chmod 600 ${path}`,
    details: { path, mode: octal },
  });
}

function checkFile(path: string, stats: Stats, bytesMax: number): void {
  requireRegular(path, stats);
  if (stats.size > bytesMax) throw tooLarge(path, stats.size, bytesMax);
}

/** Throws FILE_UNFIT for a directory, a pipe, a socket or a device. */
export function requireRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  throw new CodedError('FILE_UNFIT', `${path} is ${kindOf(stats)}, not a regular file`, {
    hint: 'name a regular file; save the output of a pipe to a file first',
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
