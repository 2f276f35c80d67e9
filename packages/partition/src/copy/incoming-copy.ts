// A partition file on its way in: bytes in order, then verified, then taken over; or thrown away.
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { copySyncBytes } from '@ringwright/base/limits-copies';
import { syncDirectory } from '@ringwright/node/durable-files';
import { KeyedChecksum } from '../audit/keyed-checksum.ts';
import type { Partition } from '../file/partition.ts';
import type { PartitionInfo } from '../file/partition-info.ts';
import { isSqliteError } from '../file/sqlite-errors.ts';
import { checkOpen, type StoreParts } from '../parts/store-parts.ts';
import { turnName } from '../trash/partition-lifecycle.ts';
import { listTrash, trimTrash } from '../trash/trash.ts';
import { adoptCopy } from './adopt-copy.ts';
import { type CopyManifest, checkManifest } from './copy-manifest.ts';
import { verifyCopy } from './verify-copy.ts';

interface Staged {
  readonly directory: string;
  readonly handle: FileHandle;
  readonly room: { readonly release: () => void };
}

/** Ends with finish or discard. Until finish resolves the live file is as it was. */
export class IncomingCopy {
  readonly manifest: CopyManifest;
  readonly #parts: StoreParts;
  readonly #partition: Partition;
  readonly #staged: Staged;
  readonly #checksum: KeyedChecksum;
  #received = 0;
  #lastWrite: Promise<unknown> = Promise.resolve();
  /** Of what was written before; a failure of the disk fails the last sync too. */
  #lastSync: Promise<unknown> = Promise.resolve();
  #syncedFrom = 0;
  #ended = false;

  constructor(
    parts: StoreParts,
    partition: Partition,
    options: { manifest: CopyManifest; staged: Staged },
  ) {
    this.#parts = parts;
    this.#partition = partition;
    this.manifest = options.manifest;
    this.#checksum = KeyedChecksum.of(options.manifest.seal);
    this.#staged = options.staged;
  }

  /** Bytes taken so far: the offset of the next chunk. */
  get received(): number {
    return this.#received;
  }

  /** Takes the next chunk. Throws COPY_INVALID when it is not the next, or too long. */
  async write(offset: number, chunk: Uint8Array): Promise<void> {
    this.#checkOpen();
    const end = offset + chunk.length;
    if (offset !== this.#received || end > this.manifest.bytes) {
      throw this.#invalid(
        `chunk [${offset}, ${end}) where ${this.#received} of ${this.manifest.bytes} are here`,
      );
    }
    this.#received = end;
    this.#checksum.take(chunk);
    const written = this.#lastWrite.then(() => this.#writeChunk(chunk, offset));
    this.#lastWrite = written;
    written.catch(() => {}); // given to this caller, and again to finish
    await written;
    this.#syncPiece();
  }

  /** Each chunk by itself: several in one go may take ten times as long (copyWriteBytes). */
  async #writeChunk(chunk: Uint8Array, offset: number): Promise<void> {
    const { length } = chunk;
    const { bytesWritten } = await this.#staged.handle.write(chunk, 0, length, offset);
    if (bytesWritten === length) return;
    throw new CodedError('DISK_FULL', `${bytesWritten} of ${length} bytes were written`);
  }

  /** What is on the disk already need not be waited for at the end. */
  #syncPiece(): void {
    if (this.#received - this.#syncedFrom < copySyncBytes) return;
    this.#syncedFrom = this.#received;
    const sync = this.#lastSync.then(() => this.#staged.handle.datasync());
    this.#lastSync = sync;
    sync.catch(() => {}); // given to finish
  }

  /**
   * Verifies the file, merges the writes that the present file has, and switches over. Throws
   * COPY_INVALID with what differed, PARTITION_ABSENT when dropped meanwhile; then the copy is
   * gone, the live file not.
   */
  async finish(): Promise<PartitionInfo> {
    this.#checkOpen();
    this.#ended = true;
    try {
      await this.#lastWrite;
      this.#checkComplete();
      const synced = this.#makeDurable();
      synced.catch(() => {}); // waited for below, unless the file is wrong
      // failpoint: copy-in.before-verify
      await verifyCopy(this.#parts.audits, join(this.#staged.directory, 'data.db'), this.manifest);
      await synced;
      return await this.#parts.mutex.run(turnName(this.#partition), () =>
        adoptCopy(this.#parts, this.#partition, this.#staged.directory),
      );
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      throw this.#invalid(error instanceof Error ? error.message : String(error));
    } finally {
      await this.#cleanUp();
    }
  }

  /** Throws the copy away. Safe to repeat, and after finish. */
  async discard(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.#lastWrite.catch(() => {});
    await this.#cleanUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.discard();
  }

  /** Closed too: closing it later would drop the locks of the connection that adopts the file. */
  async #makeDurable(): Promise<void> {
    const { handle, directory } = this.#staged;
    await this.#lastSync;
    await handle.sync();
    await handle.close();
    await syncDirectory(directory);
  }

  async #cleanUp(): Promise<void> {
    this.#staged.room.release();
    await this.#staged.handle.close().catch(() => {}); // closed already on the way to success
    await rm(this.#staged.directory, { recursive: true, force: true });
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
    checkOpen(this.#parts);
    if (this.#ended) throw this.#invalid('it is finished or discarded already');
  }

  #invalid(what: string): CodedError {
    const { keyspace, partition } = this.manifest;
    return new CodedError('COPY_INVALID', `copy of ${keyspace}/${partition}: ${what}`, {
      hint: 'the live file is as it was: start the copy again',
    });
  }
}

/** Dropped partitions make room for one that is wanted. Throws DISK_FULL. */
export async function roomFor(parts: StoreParts, bytes: number): Promise<{ release: () => void }> {
  const bytesNeeded = await parts.disk.lackingBytes(bytes);
  const trash = await listTrash(parts.root);
  const isThere = trash.reduce((sum, item) => sum + item.bytes, 0) >= bytesNeeded;
  if (bytesNeeded > 0 && isThere) {
    await trimTrash(parts.root, { beforeMs: 0, bytesMax: Number.MAX_SAFE_INTEGER, bytesNeeded });
  }
  return parts.disk.promise(bytes);
}

/** Throws COPY_INVALID for a bad manifest, DISK_FULL with both numbers, before the first byte. */
export async function receiveCopy(
  parts: StoreParts,
  partition: Partition,
  manifest: CopyManifest,
): Promise<IncomingCopy> {
  checkManifest(manifest);
  if (manifest.keyspace !== partition.keyspace || manifest.partition !== partition.partition) {
    throw new CodedError(
      'COPY_INVALID',
      `a copy of ${manifest.keyspace}/${manifest.partition} for ${turnName(partition)}`,
    );
  }
  const room = await roomFor(parts, manifest.bytes);
  const directory = parts.stagingPath('copy');
  try {
    parts.audits.prepare('audit');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const handle = await open(join(directory, 'data.db'), 'wx', 0o600);
    return new IncomingCopy(parts, partition, { manifest, staged: { directory, handle, room } });
  } catch (error) {
    room.release();
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}
