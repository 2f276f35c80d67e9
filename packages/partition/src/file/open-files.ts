// The bounded set of open partition files. A file is opened on demand, and the least recently used
// one is closed to make room.
import { existsSync } from 'node:fs';
import { assert, must } from '@ringwright/base/assert';
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import {
  fileCacheBytesMax,
  fileCacheBytesMin,
  openedFilesUncollectedMax,
} from '@ringwright/base/limits-store';
import { collectEach } from '@ringwright/node/v8/collect-garbage';
import { dataPaths } from './data-paths.ts';
import { readFileIdentities } from './file-identity.ts';
import { restoreWal } from './kept-wal.ts';
import { lostError, whyPartitionLost } from './lost-file.ts';
import { fileBytes, newTables } from './new-partition-file.ts';
import { openSqlite } from './open-sqlite.ts';
import { noteDamage, noteSynced, type Partition, pinned } from './partition.ts';
import { makePartitionDirectory } from './partition-directory.ts';
import { PartitionFile } from './partition-file.ts';
import { isCannotOpen, withFileName } from './sqlite-errors.ts';

interface OpenFilesLimits {
  readonly filesMax: number;
  /** Approximate bytes of all page caches together. */
  readonly pageCachesBytesMax: number;
  /** Bytes of all row caches together. */
  readonly rowCachesBytesMax: number;
}

export class OpenFiles {
  readonly #root: string;
  readonly #limits: OpenFilesLimits;
  /** Number of equal shares that the cache bytes are divided into; each file gets one. */
  #shares = 1;
  readonly #openPartitions = new Set<Partition>();
  #useCount = 0;
  /** Counts opened files and triggers a young garbage collection every so many. */
  readonly #opened = collectEach(openedFilesUncollectedMax);

  constructor(root: string, limits: OpenFilesLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  /** Returns the open file of a partition. Throws PARTITION_DAMAGED when it cannot be trusted. */
  use(partition: Partition): PartitionFile {
    this.#noteUse(partition);
    const { file, hasFile } = partition;
    if (file === null) return this.#openFile(partition);
    return hasFile ? file : this.#bringToDisk(partition, file);
  }

  /**
   * Like `use`, for callers that need only the rows. A partition that is being filled for the first
   * time gets no file on disk, because a copy is about to take its place. All its rows are in the
   * log.
   */
  useRows(partition: Partition): PartitionFile {
    this.#noteUse(partition);
    const { file, hasFile, infoWhenClosed } = partition;
    if (file !== null) return file;
    const isFilled = !hasFile && infoWhenClosed?.state === 'filling';
    return isFilled ? this.#openInMemory(partition) : this.#openFile(partition);
  }

  #noteUse(partition: Partition): void {
    this.#useCount += 1;
    partition.usedAt = this.#useCount;
  }

  #openInMemory(partition: Partition): PartitionFile {
    this.#beforeOpening(partition);
    const file = new PartitionFile(newTables(newOf(partition)));
    this.replace(partition, file);
    return file;
  }

  /**
   * Writes the tables in memory to a file. The log keeps the rows until the file's first
   * checkpoint.
   */
  #bringToDisk(partition: Partition, inMemory: PartitionFile): PartitionFile {
    inMemory.flush();
    using _ = pinned(partition);
    makePartitionDirectory(this.#root, newOf(partition), fileBytes(inMemory.db));
    // failpoint: filling.file-made
    const file = this.#openWithRoom(partition);
    // A checkpoint with nothing to move would not sync the bytes written above.
    file.change({ state: null, barrierMs: 0, floorMs: 0 });
    file.flush();
    partition.hasFile = true;
    partition.isNew = true;
    this.replace(partition, file);
    inMemory.wal.discard();
    return file;
  }

  #beforeOpening(partition: Partition): void {
    assert(!partition.isDropped, 'a dropped partition is not opened');
    if (partition.damage !== null) throw partition.damage;
    // While the file was closed, another one may have taken its name.
    const reason =
      partition.fileIdentities === null ? null : whyPartitionLost(this.#root, partition);
    if (reason !== null) throw lostError(partition, reason);
    if (this.#openPartitions.size >= this.#limits.filesMax) this.#closeLeastRecent();
  }

  #openFile(partition: Partition): PartitionFile {
    this.#beforeOpening(partition);
    if (!partition.hasFile) makeFile(this.#root, partition);
    const file = this.#openWithRoom(partition);
    if (partition.pendingMarks !== null) file.change(partition.pendingMarks);
    partition.pendingMarks = null;
    this.#opened(1);
    partition.life = file.life;
    partition.highestMs = Math.max(partition.highestMs, file.highestMs);
    this.replace(partition, file);
    return file;
  }

  #openWithRoom(partition: Partition): PartitionFile {
    try {
      return openPartitionFile(this.#root, partition);
    } catch (error) {
      // SQLite does not tell a lack of descriptors from other causes: close one file and retry
      // once.
      if (!isCannotOpen(error) || !this.#closeLeastRecent()) throw error;
      return openPartitionFile(this.#root, partition);
    }
  }

  #closeLeastRecent(): boolean {
    let oldest: Partition | null = null;
    for (const partition of this.#openPartitions) {
      // A damaged file may have been deleted while it is open; then its bytes exist only here.
      if (partition.pinCount > 0 || partition.damage !== null) continue;
      if (oldest === null || partition.usedAt < oldest.usedAt) oldest = partition;
    }
    if (oldest === null) return false;
    try {
      this.close(oldest);
    } catch (error) {
      // The error must not be taken for damage of the file that is being opened.
      noteDamage(oldest, error);
    }
    return true;
  }

  /**
   * Closes one file. All its writes are then synced, so it needs no log segment. A lost file is
   * marked as damaged instead: SQLite would sync a file without a name, and only the log is left.
   */
  close(partition: Partition): void {
    if (partition.file === null) return;
    const file = this.use(partition);
    const reason = whyPartitionLost(this.#root, partition);
    if (reason !== null) {
      partition.damage ??= lostError(partition, reason);
      this.abandon(partition);
      return;
    }
    partition.infoWhenClosed = file.info();
    partition.closedWithoutExpiry = file.expiring.any ? null : partition.incarnation;
    partition.highestMs = Math.max(partition.highestMs, file.highestMs);
    partition.file = null;
    this.#openPartitions.delete(partition);
    const { name } = file.db;
    try {
      file.close();
    } catch (error) {
      throw withFileName(error, name);
    }
    partition.fileIdentities = readFileIdentities(name);
    noteSynced(partition);
  }

  /** Registers an open file in place of the partition's previous one, which the caller closed. */
  replace(partition: Partition, file: PartitionFile): void {
    partition.file = file;
    partition.fileIdentities = file.isInMemory ? null : readFileIdentities(file.db.name);
    this.#openPartitions.add(partition);
    this.#limitCaches(file);
    this.#shareCaches();
  }

  /**
   * Halves each file's share when more files are open. Shares never grow back: a device rarely ends
   * up with fewer partitions.
   */
  #shareCaches(): void {
    if (this.#openPartitions.size <= this.#shares) return;
    this.#shares *= 2;
    for (const { file } of this.#openPartitions) if (file !== null) this.#limitCaches(file);
  }

  #limitCaches({ pageCache, rowCache }: PartitionFile): void {
    const { pageCachesBytesMax, rowCachesBytesMax } = this.#limits;
    const pages = Math.max(pageCachesBytesMax / this.#shares, fileCacheBytesMin);
    pageCache.limit(Math.min(pages, fileCacheBytesMax));
    rowCache.limit(rowCachesBytesMax / this.#shares);
  }

  /** Closes a file after a failure, as far as possible; the log is kept. */
  abandon(partition: Partition): void {
    const { file } = partition;
    this.#openPartitions.delete(partition);
    partition.file = null;
    try {
      file?.wal.close();
    } catch (error) {
      if (!hasCode(error, 'STORE_FAILED')) throw error; // it has put the disk in doubt already
    }
  }

  /** Closes a file whose folder was moved: SQLite then leaves the file and its WAL as they are. */
  discard(partition: Partition): void {
    const { file } = partition;
    this.#openPartitions.delete(partition);
    partition.file = null;
    file?.wal.discard();
  }

  *all(): IterableIterator<Partition> {
    yield* this.#openPartitions;
  }
}

/** Creates the file of a partition that was empty so far. */
function makeFile(root: string, partition: Partition): void {
  makePartitionDirectory(root, newOf(partition));
  partition.hasFile = true;
  partition.isNew = true;
}

function newOf({ keyspace, partition, incarnation, life, infoWhenClosed }: Partition) {
  const { state } = must(infoWhenClosed, 'known of an empty partition');
  return { keyspace, partition, incarnation, life, state };
}

/** Opens the current file of a partition and checks that it belongs to this partition. */
function openPartitionFile(root: string, partition: Partition): PartitionFile {
  const { keyspace, incarnation } = partition;
  const name = dataPaths.file(root, partition);
  const file = openDataFile(name);
  const info = file.info();
  if (
    info.keyspace === keyspace &&
    info.partition === partition.partition &&
    info.incarnation === incarnation
  ) {
    return file;
  }
  file.wal.close();
  throw new CodedError(
    'PARTITION_DAMAGED',
    `${name} says it is ${info.keyspace}/${info.partition} ${info.incarnation}`,
    { hint: 'a file was moved here by hand; drop the partition and let it refill' },
  );
}

/**
 * Opens any partition file as its owner. Throws PARTITION_DAMAGED or an SqliteError that names the
 * file.
 */
export function openDataFile(name: string): PartitionFile {
  if (!existsSync(name)) {
    throw new CodedError('PARTITION_DAMAGED', `${name} is missing`, { details: { file: name } });
  }
  restoreWal(name);
  const isWalNew = !existsSync(`${name}-wal`);
  try {
    return openTables(name, isWalNew);
  } catch (error) {
    throw withFileName(error, name);
  }
}

function openTables(name: string, isWalNew: boolean): PartitionFile {
  const db = openSqlite(name);
  try {
    const file = new PartitionFile(db, isWalNew);
    // It may be one of a thousand files that are hardly used.
    file.pageCache.trim();
    return file;
  } catch (error) {
    db.close();
    throw error;
  }
}
