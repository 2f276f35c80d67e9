// A partition file that arrives in chunks: written in order, then verified, then adopted; or
// discarded.
import { type FileHandle, open } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { copySyncBytes } from '@ringwright/base/limits-copies';
import { KeyedChecksum } from '../audit/keyed-checksum.ts';
import type { Partition } from '../file/partition.ts';
import type { PartitionInfo } from '../file/partition-info.ts';
import type { StoreParts } from '../store/store-parts.ts';
import { type CopyManifest, checkManifest } from './copy-manifest.ts';
import { type StagedCopy, stageCopy } from './staged-copy.ts';

/** The caller ends it with finish or discard. Until finish resolves the live file is unchanged. */
export class IncomingCopy {
  readonly manifest: CopyManifest;
  readonly #staged: StagedCopy;
  readonly #handle: FileHandle;
  readonly #checksum: KeyedChecksum;
  #received = 0;
  #lastWrite: Promise<unknown> = Promise.resolve();
  /** The sync of earlier chunks; after a disk failure the last sync fails too. */
  #lastSync: Promise<unknown> = Promise.resolve();
  #syncedFrom = 0;
  #ended = false;

  constructor(manifest: CopyManifest, staged: StagedCopy, handle: FileHandle) {
    this.manifest = manifest;
    this.#checksum = KeyedChecksum.of(manifest.seal);
    this.#staged = staged;
    this.#handle = handle;
  }

  /** Bytes received so far: the offset of the next chunk. */
  get received(): number {
    return this.#received;
  }

  /** Writes the next chunk. Throws COPY_INVALID when the offset is wrong or the chunk too long. */
  async write(offset: number, chunk: Uint8Array): Promise<void> {
    this.#checkOpen();
    const end = offset + chunk.length;
    if (offset !== this.#received || end > this.manifest.bytes) {
      throw this.#invalid(
        `chunk [${offset}, ${end}) but ${this.#received} of ${this.manifest.bytes} bytes were received`,
      );
    }
    this.#received = end;
    this.#checksum.take(chunk);
    const written = this.#lastWrite.then(() => this.#writeChunk(chunk, offset));
    this.#lastWrite = written;
    written.catch(() => {}); // this caller gets the error, and finish gets it again
    await written;
    this.#syncPiece();
  }

  /** Writes each chunk by itself: several at once may take ten times as long (copyWriteBytes). */
  async #writeChunk(chunk: Uint8Array, offset: number): Promise<void> {
    const { length } = chunk;
    const { bytesWritten } = await this.#handle.write(chunk, 0, length, offset);
    if (bytesWritten === length) return;
    throw new CodedError('DISK_FULL', `${bytesWritten} of ${length} bytes were written`);
  }

  /** Syncs along the way, so that the end need not wait for all bytes. */
  #syncPiece(): void {
    if (this.#received - this.#syncedFrom < copySyncBytes) return;
    this.#syncedFrom = this.#received;
    const sync = this.#lastSync.then(() => this.#handle.datasync());
    this.#lastSync = sync;
    sync.catch(() => {}); // finish gets the error
  }

  /** See StagedCopy.adopt. Also throws COPY_INVALID when bytes are missing. */
  async finish(): Promise<PartitionInfo> {
    this.#checkOpen();
    this.#ended = true;
    try {
      await this.#lastWrite;
      this.#checkComplete();
      return await this.#staged.adopt(() => this.#makeDurable());
    } finally {
      await this.#cleanUp();
    }
  }

  /** Discards the copy. Idempotent, also after finish. */
  async discard(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.#lastWrite.catch(() => {});
    await this.#cleanUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.discard();
  }

  /** Syncs and closes: closing it later would drop the locks of the adopting connection. */
  async #makeDurable(): Promise<void> {
    await this.#lastSync;
    await this.#handle.sync();
    await this.#handle.close();
  }

  async #cleanUp(): Promise<void> {
    await this.#handle.close().catch(() => {}); // closed already on success
    await this.#staged.remove();
  }

  #checkComplete(): void {
    const { bytes, seal } = this.manifest;
    if (this.#received !== bytes) {
      throw this.#invalid(`${this.#received} bytes were received, the manifest says ${bytes}`);
    }
    const found = this.#checksum.text();
    if (found !== seal)
      throw this.#invalid(`its keyed checksum is ${found}, the source says ${seal}`);
  }

  #checkOpen(): void {
    this.#staged.checkOpen();
    if (this.#ended) throw this.#invalid('it is finished or discarded already');
  }

  #invalid(problem: string): CodedError {
    return this.#staged.invalid(problem);
  }
}

/** Throws COPY_INVALID for a bad manifest, DISK_FULL with both numbers, before the first byte. */
export async function receiveCopy(
  parts: StoreParts,
  partition: Partition,
  manifest: CopyManifest,
): Promise<IncomingCopy> {
  checkManifest(manifest);
  const staged = await stageCopy(parts, partition, manifest);
  try {
    return new IncomingCopy(manifest, staged, await open(staged.file, 'wx', 0o600));
  } catch (error) {
    await staged.remove();
    throw error;
  }
}
