// An archive of records: `records.bin` holds frames of packed records. `manifest.json` is written
// last, and without it the folder is no archive.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { constants, type FileHandle, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { archiveFrameBytesMax, archiveFrameRecordsMax } from '@ringwright/base/limits-commands';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { readRegularText, requireRegular } from '@ringwright/node/read-regular-file';
import { withPath } from '@ringwright/node/with-path';
import { packedWriteBytes, packWrites, unpackWrites } from '@ringwright/wire/packed-writes';
import { type ArchiveManifest, manifestSchema } from './archive-manifest.ts';
import type { ArchiveProgress } from './archive-progress.ts';

const LENGTH_BYTES = 4;

/** A record with its stamp: time and tie (counter and device). */
export interface ArchivedRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly ms: number;
  readonly tie: number;
  /** Expiry in Unix ms; 0: never. */
  readonly expiresMs: number;
}

export const manifestPath = (folder: string): string => path.join(folder, 'manifest.json');
const recordsPath = (folder: string): string => path.join(folder, 'records.bin');

type FilePart = Pick<ArchiveProgress, 'records' | 'bytes' | 'sha256'>;

export class RecordFileWriter {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  #frame: ArchivedRecord[] = [];
  #frameBytes = 0;
  records = 0;
  bytes = 0;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /**
   * Opens the file and continues after the part that an interrupted attempt left. `left` null:
   * starts a new file. Throws ARCHIVE_INVALID if the file does not begin with that part.
   */
  static async begin(folder: string, left: FilePart | null): Promise<RecordFileWriter> {
    const file = recordsPath(folder);
    // Only this user may read the records: not all users of this machine, and not through a link
    // that another user has placed there.
    if (left === null) {
      await rm(file, { force: true });
      return new RecordFileWriter(file, await open(file, 'wx', 0o600));
    }
    const handle = await open(file, constants.O_RDWR | constants.O_NOFOLLOW).catch((cause) => {
      throw invalid(folder, 'its records.bin cannot be opened', cause);
    });
    const writer = new RecordFileWriter(file, handle);
    try {
      const { size } = await handle.stat();
      if (size < left.bytes) throw invalid(folder, `${size} of ${left.bytes} bytes are present`);
      const isSame = await writer.#goOn(left);
      if (!isSame) throw invalid(folder, 'its records.bin has changed since the interruption');
    } catch (error) {
      await writer[Symbol.asyncDispose]();
      throw error;
    }
    return writer;
  }

  /** Resolves to whether the file begins with this part. If not, the file is unchanged. */
  async #goOn({ records, bytes, sha256 }: FilePart): Promise<boolean> {
    // The writes give a position, because writes without one would begin at 0.
    const stream = this.#file.createReadStream({ start: 0, end: bytes - 1, autoClose: false });
    for await (const part of stream) this.#hash.update(part as Buffer);
    if (this.sha256 !== sha256) return false;
    await this.#file.truncate(bytes);
    [this.records, this.bytes] = [records, bytes];
    return true;
  }

  /** Of what has been written to the file so far. */
  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Closes the file like end(). Data that is not yet durable may be lost. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close();
  }

  /** Resolves to whether all records added so far have been written to the file. */
  async add(record: ArchivedRecord): Promise<boolean> {
    this.#frame.push(record);
    this.#frameBytes += packedWriteBytes({ partition: 0, ...record });
    const isFull =
      this.#frameBytes >= archiveFrameBytesMax / 2 || this.#frame.length >= archiveFrameRecordsMax;
    if (isFull) await this.#flush();
    return isFull;
  }

  /** Makes everything written to the file durable. */
  sync(): Promise<void> {
    return this.#file.sync().catch(withPath(this.#path));
  }

  /** Writes the rest, makes the file durable, closes it, and returns its SHA-256. */
  async end(): Promise<string> {
    await this.#flush();
    await this.sync();
    await this.#file.close();
    return this.sha256;
  }

  async #flush(): Promise<void> {
    if (this.#frame.length === 0) return;
    const packed = packWrites(this.#frame.map((record) => ({ partition: 0, ...record })));
    const bytes = Buffer.alloc(LENGTH_BYTES + packed.length);
    bytes.writeUInt32BE(packed.length, 0);
    bytes.set(packed, LENGTH_BYTES);
    this.#hash.update(bytes);
    // A disk that is filling up may take a part of the bytes, without an error.
    for (let at = 0; at < bytes.length; ) {
      const writing = this.#file.write(bytes, at, bytes.length - at, this.bytes + at);
      at += (await writing.catch(withPath(this.#path))).bytesWritten;
    }
    this.bytes += bytes.length;
    this.records += this.#frame.length;
    [this.#frame, this.#frameBytes] = [[], 0];
  }
}

/** Returns the manifest after checking the file's hash. Throws ARCHIVE_INVALID, FILE_UNFIT. */
export async function openArchive(folder: string): Promise<ArchiveManifest> {
  const text = await readRegularText(manifestPath(folder)).catch((cause: unknown) => {
    if (cause instanceof CodedError) throw cause;
    throw invalid(folder, 'it has no manifest.json', cause);
  });
  const parsed = manifestSchema.safeParse(jsonOrNull(text));
  if (!parsed.success) throw invalid(folder, 'its manifest.json is not of format 1 or 2');
  const hash = createHash('sha256');
  try {
    requireRegular(recordsPath(folder), await stat(recordsPath(folder)));
    for await (const part of createReadStream(recordsPath(folder))) hash.update(part as Buffer);
  } catch (cause) {
    if (cause instanceof CodedError) throw cause;
    throw invalid(folder, 'its records.bin cannot be read', cause);
  }
  const [found, { sha256 }] = [hash.digest('hex'), parsed.data];
  if (found === sha256) return parsed.data;
  const what = `records.bin has SHA-256 ${found.slice(0, 12)}, the manifest says`;
  throw invalid(folder, `${what} ${sha256.slice(0, 12)}`);
}

/**
 * Yields the records of a checked archive frame by frame. Throws ARCHIVE_INVALID, at the end if the
 * file has changed since openArchive returned this manifest.
 */
export async function* framesOf(
  folder: string,
  { sha256 }: Pick<ArchiveManifest, 'sha256'>,
): AsyncGenerator<readonly ArchivedRecord[]> {
  const file = await open(recordsPath(folder));
  const hash = createHash('sha256');
  try {
    const head = Buffer.alloc(LENGTH_BYTES);
    while ((await file.read(head, 0, LENGTH_BYTES)).bytesRead === LENGTH_BYTES) {
      const length = head.readUInt32BE(0);
      if (length > archiveFrameBytesMax) throw invalid(folder, `a frame of ${length} bytes`);
      const bytes = Buffer.alloc(length);
      const { bytesRead } = await file.read(bytes, 0, length);
      const rows = bytesRead < length ? null : unpackWrites(bytes);
      if (rows === null) throw invalid(folder, 'a frame does not contain complete records');
      hash.update(head).update(bytes);
      yield rows.map(({ key, value, ms, tie, expiresMs = 0 }) => {
        if (value === null) throw invalid(folder, 'a frame contains a deletion');
        return { key, value, ms, tie, expiresMs };
      });
    }
    if (hash.digest('hex') !== sha256)
      throw invalid(folder, 'records.bin changed while it was read');
  } finally {
    await file.close();
  }
}

function invalid(folder: string, why: string, cause?: unknown): CodedError {
  return new CodedError(
    'ARCHIVE_INVALID',
    `${folder} is not a complete archive of records: ${why}`,
    {
      hint: 'ring-builder archive-data RING --to FOLDER creates one; its manifest is written last',
      details: { folder },
      cause,
    },
  );
}
