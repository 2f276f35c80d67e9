// A copy of one partition file, taken while it is written to, staged as a single file that can be
// streamed.
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { snapshotPagesPerTurn, transferChunkBytesMax } from '@ringwright/base/limits';
import { copyByProcessBytesMin } from '@ringwright/base/limits-copies';
import { copyByProcess } from './copy-by-process.ts';
import type { CopyManifest } from './copy-manifest.ts';
import { openUntrusted } from './open-sqlite.ts';
import type { Partition } from './partition.ts';
import { readMeta } from './partition-meta.ts';
import type { MetaRow } from './schema.ts';
import { checkOpen, type StoreParts } from './store-parts.ts';

/** Holds a staged file until released. */
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
   * Bytes [offset, offset + length) of the file, fewer at its end; length <= transferChunkBytesMax.
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

  /** Removes the staged file. Safe to repeat. */
  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    await this.#handle.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}

/**
 * Writes go on meanwhile. A long file is copied by another process while its checkpoints wait, and
 * is of the moment that begins; where that fails, and for short ones, the backup API mirrors the
 * writes of its own connection, so that the copy is of the moment it ends: DESIGN.md says why.
 * Throws DISK_FULL before anything is written, PARTITION_ABSENT when dropped meanwhile.
 */
export async function takeSnapshot(parts: StoreParts, partition: Partition): Promise<Snapshot> {
  const directory = parts.stagingPath('snapshot');
  const file = join(directory, 'data.db');
  const bytes = expectedBytes(parts, partition);
  const room = await parts.disk.promise(bytes);
  try {
    await mkdir(directory, { recursive: true });
    const isCopied = bytes >= copyByProcessBytesMin && (await copyHeld(parts, partition, file));
    if (!isCopied) await backUp(parts, partition, file);
    const meta = makeSingleFile(file);
    const handle = await open(file, 'r+');
    try {
      await handle.sync();
      const { size } = await stat(file);
      const manifest = manifestOf(meta, { bytes: size, sha256: await hashFile(handle, size) });
      return new Snapshot(manifest, { directory, handle });
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  } finally {
    room.release();
  }
}

function expectedBytes(parts: StoreParts, partition: Partition): number {
  const file = parts.files.use(partition);
  file.flush();
  const { db } = file;
  const pages = Number(db.pragma('page_count', { simple: true }));
  return pages * Number(db.pragma('page_size', { simple: true }));
}

/** False when the copy cannot be trusted, or was not made: it is taken otherwise. */
async function copyHeld(parts: StoreParts, partition: Partition, to: string): Promise<boolean> {
  const file = parts.files.use(partition);
  partition.pins += 1;
  partition.held += 1;
  try {
    if (!file.checkpoint('TRUNCATE')) return false;
    const { checkpoints } = file;
    await copyByProcess(file.db.name, to);
    checkOpen(parts);
    return partition.file === file && file.checkpoints === checkpoints;
  } catch {
    checkOpen(parts);
    return false;
  } finally {
    partition.pins -= 1;
    partition.held -= 1;
    parts.checkpointer.request(partition);
  }
}

async function backUp(parts: StoreParts, partition: Partition, file: string): Promise<void> {
  if (partition.gone) throw absent(partition);
  const { db } = parts.files.use(partition);
  partition.pins += 1;
  try {
    await db.backup(file, { progress: () => snapshotPagesPerTurn });
  } catch (error) {
    checkOpen(parts);
    if (partition.file?.db === db) throw error;
    throw absent(partition, error);
  } finally {
    partition.pins -= 1;
  }
}

function absent({ keyspace, partition }: Partition, cause?: unknown): CodedError {
  const message = `${keyspace}/${partition} was dropped or replaced while it was copied`;
  return new CodedError('PARTITION_ABSENT', message, { cause });
}

/** Takes the WAL flag off the staged copy, and reads what the copy really holds inside it. */
function makeSingleFile(file: string): MetaRow {
  const db = openUntrusted(file);
  try {
    const mode = db.pragma('journal_mode = DELETE', { simple: true });
    assert(mode === 'delete', `journal mode ${String(mode)} of a staged copy`);
    return readMeta(db);
  } finally {
    db.close();
  }
}

async function hashFile(handle: FileHandle, size: number): Promise<string> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(transferChunkBytesMax * 4);
  for (let offset = 0; offset < size; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, offset);
    assert(bytesRead > 0, 'the staged file keeps its length');
    hash.update(chunk.subarray(0, bytesRead));
    offset += bytesRead;
    await setImmediate();
  }
  return hash.digest('hex');
}

function manifestOf(meta: MetaRow, file: { bytes: number; sha256: string }): CopyManifest {
  const { keyspace, partition, incarnation, seq, rows, tombstones, digest } = meta;
  return {
    keyspace,
    partition,
    sourceIncarnation: incarnation,
    seq,
    rows,
    tombstones,
    digest,
    ...file,
  };
}
