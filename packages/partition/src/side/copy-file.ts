// Copies a file, or some of its pages, while another process may write to it.
import { closeSync, constants, copyFileSync, openSync, readSync, writeSync } from 'node:fs';
import { copyWriteBytes } from '@ringwright/base/limits-copies';
import { KeyedChecksum } from '../audit/keyed-checksum.ts';
import { pageBytes } from '../file/schema.ts';

export interface PagesToCopy {
  readonly from: string;
  readonly to: string;
  /** Page numbers from 1, ascending; null: the whole file, and `to` is created. */
  readonly pages: Uint32Array | null;
}

export interface CopiedFile {
  readonly bytes: number;
  /** Keyed checksum of the bytes read: keyed-checksum.ts. */
  readonly seal: string;
}

/** Takes the checksum between reading and writing, which costs no more than a kernel copy. */
export function copyFile(from: string, to: string): CopiedFile {
  using cleanup = new DisposableStack();
  const source = cleanup.adopt(openSync(from, 'r'), closeSync);
  const target = cleanup.adopt(openSync(to, 'wx', 0o600), closeSync);
  const checksum = KeyedChecksum.begin();
  const piece = Buffer.allocUnsafe(copyWriteBytes);
  for (let bytes = 0; ; ) {
    const length = readSync(source, piece, 0, copyWriteBytes, bytes);
    if (length === 0) return { bytes, seal: checksum.text() };
    checksum.take(piece.subarray(0, length));
    const written = writeSync(target, piece, 0, length, bytes);
    if (written !== length) throw new Error(`${written} of ${length} bytes were written`);
    bytes += length;
  }
}

/** Copies consecutive pages at once. Throws if `from` ends before the last page. */
export function copyPages({ from, to, pages }: PagesToCopy): void {
  if (pages !== null) copyEach(from, to, pages);
  else if (!cloneFile(from, to)) copyFile(from, to);
}

/**
 * Shares the file's blocks where the file system can (reflink); else returns false. A copy by the
 * kernel takes twice as long as one here, and on ext4 makes syncs wait for up to 230 ms.
 */
function cloneFile(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  }
}

function copyEach(from: string, to: string, pages: Uint32Array): void {
  using cleanup = new DisposableStack();
  const source = cleanup.adopt(openSync(from, 'r'), closeSync);
  const target = cleanup.adopt(openSync(to, 'r+'), closeSync);
  const piece = Buffer.allocUnsafe(copyWriteBytes);
  for (const { first, count } of runsOf(pages)) {
    const bytes = piece.subarray(0, count * pageBytes);
    const at = (first - 1) * pageBytes;
    if (readSync(source, bytes, 0, bytes.length, at) !== bytes.length) {
      throw new Error(`${from} ends before its page ${first + count - 1}`);
    }
    const written = writeSync(target, bytes, 0, bytes.length, at);
    if (written !== bytes.length) throw new Error(`${written} bytes were written`);
  }
}

function* runsOf(pages: Uint32Array): Generator<{ first: number; count: number }> {
  const countMax = copyWriteBytes / pageBytes;
  for (let index = 0; index < pages.length; ) {
    const first = pages[index] ?? 0;
    let count = 1;
    while (count < countMax && pages[index + count] === first + count) count += 1;
    yield { first, count };
    index += count;
  }
}
