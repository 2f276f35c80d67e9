// A consistent copy of one partition file, taken while the file is written, as a staged file.
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import { removeFiles } from '@ringwright/node/remove-files';
import { KeyedChecksum } from '../audit/keyed-checksum.ts';
import { openUntrusted } from '../file/open-sqlite.ts';
import { type Partition, pinned } from '../file/partition.ts';
import { readMeta } from '../file/partition-meta.ts';
import type { MetaRow } from '../file/schema.ts';
import type { CopiedFile } from '../side/copy-file.ts';
import { checkOpen, type StoreParts } from '../store/store-parts.ts';
import { withFile } from '../store/use-partition.ts';
import { backUpFile, whileHeld } from './copy-live-file.ts';
import { type CopyManifest, described } from './copy-manifest.ts';

/** A staged file that exists until it is released. */
export class Snapshot {
  readonly manifest: CopyManifest;
  readonly #directory: string;
  readonly #handle: FileHandle;
  #released = false;

  constructor(manifest: CopyManifest, staged: { directory: string; handle: FileHandle }) {
    this.manifest = manifest;
    this.#directory = staged.directory;
    this.#handle = staged.handle;
  }

  /** The staged file: gone after release. */
  get file(): string {
    return join(this.#directory, 'data.db');
  }

  /**
   * Reads bytes [offset, offset + length) of the file, fewer at its end; `length` is at most
   * transferChunkBytesMax.
   */
  async readChunk(offset: number, length: number): Promise<Buffer> {
    if (this.#released) throw new CodedError('STORE_CLOSED', 'the snapshot is released');
    const inRange = offset >= 0 && length >= 0 && length <= transferChunkBytesMax;
    if (!inRange || offset > this.manifest.bytes) {
      throw new CodedError(
        'VALUE_OUT_OF_RANGE',
        `chunk of ${length} bytes (of ${transferChunkBytesMax}) at ${offset} of ${this.manifest.bytes}`,
      );
    }
    const chunk = Buffer.allocUnsafe(Math.min(length, this.manifest.bytes - offset));
    let filled = 0;
    while (filled < chunk.length) {
      const { bytesRead } = await this.#handle.read(
        chunk,
        filled,
        chunk.length - filled,
        offset + filled,
      );
      assert(bytesRead > 0, 'the staged file keeps its length');
      filled += bytesRead;
    }
    return chunk;
  }

  /** Removes the staged file. Idempotent. */
  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    await this.#handle.close();
    await removeFiles(this.#directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}

/**
 * Takes a snapshot while writes go on. A helper process copies the file while its checkpoints wait:
 * the copy shows the moment it begins. If that fails, the backup API mirrors the writes of its own
 * connection, so that the copy shows the moment it ends: DESIGN.md in this folder says why. Nothing
 * is synced, because staged files do not survive a crash.
 * Throws DISK_FULL before anything is written, PARTITION_ABSENT when dropped meanwhile.
 */
export async function takeSnapshot(parts: StoreParts, partition: Partition): Promise<Snapshot> {
  const directory = parts.stagingPath('snapshot');
  const file = join(directory, 'data.db');
  const bytes = expectedBytes(parts, partition);
  using _ = await parts.disk.reserve(bytes);
  try {
    await mkdir(directory, { recursive: true });
    const manifest =
      (await copyHeld(parts, partition, file)) ?? (await backUp(parts, partition, file));
    return new Snapshot(manifest, { directory, handle: await open(file, 'r') });
  } catch (error) {
    await removeFiles(directory);
    throw error;
  }
}

function expectedBytes(parts: StoreParts, partition: Partition): number {
  return withFile(parts, partition, (file) => {
    file.flush();
    const pages = Number(file.db.pragma('page_count', { simple: true }));
    return pages * Number(file.db.pragma('page_size', { simple: true }));
  });
}

/**
 * Resolves to null when no copy was made, or it cannot be trusted; the caller then takes the
 * backup.
 */
async function copyHeld(
  parts: StoreParts,
  partition: Partition,
  to: string,
): Promise<CopyManifest | null> {
  const file = withFile(parts, partition, (used) => used);
  using _ = pinned(partition);
  try {
    // In the thread pool; little is left for the checkpoint that follows.
    await file.checkpointInPool().catch((error: unknown) => {
      // A failed sync fails the store: a second one would report success.
      withFile(parts, partition, () => {
        throw error;
      });
    });
    if (!withFile(parts, partition, () => file.checkpoint('TRUNCATE'))) return null;
    // True of the file itself: nothing waits in memory or in the WAL.
    const info = file.info();
    const read = () => parts.copies.copy(file.db.name, to);
    const copied = await whileHeld(parts, partition, { file, read });
    if (copied !== null) return { ...described(info), ...copied };
  } catch {
    checkOpen(parts);
  }
  await removeFiles(to);
  return null;
}

async function backUp(
  parts: StoreParts,
  partition: Partition,
  file: string,
): Promise<CopyManifest> {
  await backUpFile(parts, partition, file);
  return { ...described(metaOf(file)), ...(await checksumFile(file)) };
}

/** Reads the meta row of the copy itself. */
function metaOf(file: string): MetaRow {
  using cleanup = new DisposableStack();
  const db = cleanup.adopt(openUntrusted(file), (one) => one.close());
  return readMeta(db);
}

async function checksumFile(file: string): Promise<CopiedFile> {
  const checksum = KeyedChecksum.begin();
  let bytes = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 4 * transferChunkBytesMax })) {
    checksum.take(chunk as Buffer); // a Buffer, since no encoding is set
    bytes += (chunk as Buffer).length;
  }
  return { bytes, seal: checksum.text() };
}
