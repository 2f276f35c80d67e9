// The files of a copy as one stream of bytes. Runs in the carrier.
import { closeSync, fdatasync, openSync, read, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { CodedError } from '@ringwright/base/coded-error';
import type { FilePart } from './copy-work.ts';

const readAt = promisify(read);
const syncInPool = promisify(fdatasync);

interface OpenPart extends FilePart {
  readonly fd: number;
  /** Offset of its first byte in the stream. */
  readonly start: number;
}

export class PartFiles {
  readonly bytes: number;
  readonly #parts: readonly OpenPart[];
  /** Number of operations in the thread pool. */
  #operationCount = 0;
  #onIdle: (() => void)[] = [];

  private constructor(parts: readonly OpenPart[]) {
    this.#parts = parts;
    this.bytes = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** `wx`: the files must not exist yet. Throws the file system's errors. */
  static open(parts: readonly FilePart[], flags: 'r' | 'wx' | 'wx+'): PartFiles {
    const opened: OpenPart[] = [];
    try {
      let start = 0;
      for (const part of parts) {
        opened.push({ ...part, fd: openSync(part.path, flags, 0o600), start });
        start += part.bytes;
      }
      return new PartFiles(opened);
    } catch (error) {
      for (const { fd } of opened) closeSync(fd);
      throw error;
    }
  }

  /** Fills the piece up to the end of one file. Resolves to the number of bytes read. */
  async read(piece: Buffer, at: number): Promise<number> {
    const { fd, start, bytes } = this.#partAt(at);
    const length = Math.min(piece.length, start + bytes - at);
    const reading = readAt(fd, piece, 0, length, at - start);
    const { bytesRead } = await this.#whileCounted(reading);
    if (bytesRead === 0) throw new Error(`a file ends at ${at - start} of ${bytes} bytes`);
    return bytesRead;
  }

  /** Throws DISK_FULL if the disk takes fewer bytes, and the file system's errors. */
  write(piece: Uint8Array, at: number): void {
    for (let done = 0; done < piece.length; ) {
      const { fd, start, bytes } = this.#partAt(at + done);
      const length = Math.min(piece.length - done, start + bytes - at - done);
      const written = writeSync(fd, piece, done, length, at + done - start);
      if (written === 0) throw new CodedError('DISK_FULL', 'the disk takes no more bytes');
      done += written;
    }
  }

  /** Syncs all files, in the thread pool. */
  async sync(): Promise<void> {
    for (const { fd } of this.#parts) await this.#whileCounted(syncInPool(fd));
  }

  /** Resolves when no read or sync is in progress. */
  async idle(): Promise<void> {
    if (this.#operationCount > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Waits for reads in progress: the descriptor of a closed file may be reused for another. */
  async close(): Promise<void> {
    await this.idle();
    for (const { fd } of this.#parts) closeSync(fd);
  }

  async #whileCounted<Result>(work: Promise<Result>): Promise<Result> {
    this.#operationCount += 1;
    try {
      return await work;
    } finally {
      this.#operationCount -= 1;
      if (this.#operationCount === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  #partAt(at: number): OpenPart {
    const part = this.#parts.find(({ start, bytes }) => at < start + bytes);
    if (part === undefined) throw new Error(`no file of the copy has byte ${at}`);
    return part;
  }
}
