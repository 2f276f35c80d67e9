// A partition file on its way in: the room it has, whether it is what its manifest says, and its
// end, well or not.
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { messageOf } from '@ringwright/base/thrown';
import { removeFiles } from '@ringwright/node/remove-files';
import type { PartitionAudit } from '../audit/audit-partition-file.ts';
import type { FileOwner, OwnedFile } from '../audit/own-file.ts';
import { partitionName } from '../file/data-paths.ts';
import type { Partition } from '../file/partition.ts';
import type { PartitionInfo, TombstoneMarks } from '../file/partition-info.ts';
import { isSqliteError } from '../file/sqlite-errors.ts';
import type { FileToMake } from '../side/make-file.ts';
import type { SideProcess } from '../side/side-process.ts';
import type { DiskReservation } from '../store/disk-space.ts';
import { checkOpen, type StoreParts } from '../store/store-parts.ts';
import { listTrash, trimTrash } from '../trash/trash.ts';
import { adoptCopy } from './adopt-copy.ts';
import { type CopyDescription, checkDescription, checkMarks } from './copy-manifest.ts';
import { installCopy, stateInMemory } from './install-copy.ts';

export class StagedCopy {
  readonly description: CopyDescription;
  readonly file: string;
  readonly #parts: StoreParts;
  readonly #partition: Partition;
  readonly #directory: string;
  readonly #incarnation: string;
  readonly #reservation: DiskReservation;
  /** The folder belongs to the partition now. */
  #isPlaced = false;

  constructor(
    parts: StoreParts,
    partition: Partition,
    staged: {
      readonly description: CopyDescription;
      /** Staging folder that becomes the partition's folder; `incarnation` names its subfolder. */
      readonly directory: string;
      readonly incarnation: string;
      readonly reservation: DiskReservation;
    },
  ) {
    this.description = staged.description;
    this.#parts = parts;
    this.#partition = partition;
    this.#directory = staged.directory;
    this.#incarnation = staged.incarnation;
    this.#reservation = staged.reservation;
    this.file = join(staged.directory, staged.incarnation, 'data.db');
  }

  /** Throws STORE_CLOSED and STORE_FAILED. */
  checkOpen(): void {
    checkOpen(this.#parts);
  }

  /**
   * Verifies the file, merges the rows of the present file, and switches over. By then the file is
   * complete with the source's bytes; `makeDurable` must end when they are on disk and nobody has
   * the file open. Throws COPY_INVALID with what differed, PARTITION_ABSENT when dropped meanwhile;
   * the live file is then unchanged. The staged file is gone in any case.
   */
  async adopt(makeDurable: () => Promise<void>): Promise<PartitionInfo> {
    try {
      const synced = makeDurable();
      synced.catch(() => {}); // awaited below, unless the file is wrong
      // failpoint: copy-in.before-verify
      const copied = { file: this.file, owner: this.#owner() };
      const owned = await verifyCopy(this.#parts.audits, copied, this.description);
      await synced;
      return await this.#takePlace(owned);
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      throw this.invalid(messageOf(error));
    }
  }

  /** Like `adopt`, for a file that is built here from all its records. */
  async make(content: Pick<FileToMake, 'records' | keyof TombstoneMarks>): Promise<PartitionInfo> {
    const { keyspace, partition, digest } = this.description;
    const owner = this.#owner();
    const commonFields = { file: this.file, owner, keyspace, partition, digest };
    // failpoint: copy-in.before-make
    const ownedFile = await this.#parts.audits.make({ ...commonFields, ...content });
    if (ownedFile === null) throw this.invalid(`its records do not match the digest ${digest}`);
    return this.#takePlace(owner === null ? null : ownedFile);
  }

  /**
   * The owner to write into the staged file; null if the partition has a file, whose rows must be
   * merged first.
   */
  #owner(): FileOwner | null {
    const { hasFile, life } = this.#partition;
    if (hasFile) return null;
    return { incarnation: this.#incarnation, life, state: stateInMemory(this.#partition) };
  }

  #takePlace(owned: OwnedFile | null): Promise<PartitionInfo> {
    const [parts, partition, directory] = [this.#parts, this.#partition, this.#directory];
    return parts.mutex.run(partitionName(partition), async () => {
      const placed = owned && (await installCopy(parts, partition, { directory, owned }));
      this.#isPlaced = placed !== null;
      return placed ?? adoptCopy(parts, partition, { directory: dirname(this.file) });
    });
  }

  async remove(): Promise<void> {
    this.#reservation.release();
    if (!this.#isPlaced) await removeFiles(this.#directory);
  }

  invalid(problem: string): CodedError {
    const { keyspace, partition } = this.description;
    return new CodedError('COPY_INVALID', `copy of ${keyspace}/${partition}: ${problem}`, {
      hint: 'the live file is unchanged: start the copy again',
    });
  }
}

/** Reserves disk space, deleting dropped partitions if needed. Throws DISK_FULL. */
export async function roomFor(parts: StoreParts, bytes: number): Promise<DiskReservation> {
  const { disk, root } = parts;
  try {
    return await disk.reserve(bytes);
  } catch (error) {
    if (!hasCode(error, 'DISK_FULL')) throw error;
    const bytesNeeded = await disk.lackingBytes(bytes);
    const trash = await listTrash(root);
    if (trash.reduce((sum, item) => sum + item.bytes, 0) < bytesNeeded) throw error;
    await trimTrash(parts, { beforeMs: 0, bytesMax: Number.MAX_SAFE_INTEGER, bytesNeeded });
    return disk.reserve(bytes);
  }
}

/** Stages an incoming copy and creates its folder. Throws like `reserveCopy`. */
export async function stageCopy(
  parts: StoreParts,
  partition: Partition,
  copy: CopyDescription,
): Promise<StagedCopy> {
  const staged = await reserveCopy(parts, partition, copy);
  try {
    await mkdir(dirname(staged.file), { recursive: true, mode: 0o700 });
    return staged;
  } catch (error) {
    await staged.remove();
    throw error;
  }
}

/**
 * Reserves disk space for a copy. Throws COPY_INVALID for an impossible file, and DISK_FULL with
 * both numbers, before the first byte.
 */
export async function reserveCopy(
  parts: StoreParts,
  partition: Partition,
  copy: CopyDescription,
): Promise<StagedCopy> {
  checkDescription(copy);
  if (copy.keyspace !== partition.keyspace || copy.partition !== partition.partition) {
    const message = `a copy of ${copy.keyspace}/${copy.partition} for ${partitionName(partition)}`;
    throw new CodedError('COPY_INVALID', message);
  }
  const reservation = await roomFor(parts, copy.bytes);
  parts.audits.prepare();
  const directory = parts.stagingPath('copy');
  const incarnation = parts.newIncarnation();
  return new StagedCopy(parts, partition, {
    description: copy,
    directory,
    incarnation,
    reservation,
  });
}

/**
 * Resolves when the file is intact, has our schema, every row matches its hash, and all figures
 * match the manifest. The value is the file's new identity if it was to get an owner. Rejects with
 * COPY_INVALID, which lists the differences.
 */
async function verifyCopy(
  audits: SideProcess,
  { file, owner }: { readonly file: string; readonly owner: FileOwner | null },
  manifest: CopyDescription,
): Promise<OwnedFile | null> {
  const audit = await audits.audit(file, owner);
  const { meta } = audit;
  if (meta !== null) {
    await checkMarks(manifest.marksMax, { floorMs: meta.floor_ms, barrierMs: meta.barrier_ms });
  }
  const findings = compareManifest(audit, manifest);
  const [first] = findings;
  if (first === undefined) return audit.owned;
  throw new CodedError(
    'COPY_INVALID',
    `copy of ${manifest.keyspace}/${manifest.partition}: ${first.message}`,
    {
      hint: 'the copy was discarded and nothing changed here: copy again, or from another source',
      details: { findings },
    },
  );
}

function compareManifest({ findings, meta }: PartitionAudit, manifest: CopyDescription): Finding[] {
  if (meta === null || findings.length > 0) return [...findings];
  const expected = { ...manifest, incarnation: manifest.sourceIncarnation };
  const names = [
    'keyspace',
    'partition',
    'incarnation',
    'seq',
    'rows',
    'tombstones',
    'digest',
  ] as const;
  return names
    .filter((name) => meta[name] !== expected[name])
    .map((name) => ({
      code: 'MANIFEST_DIFFERS',
      message: `${name} is ${meta[name]} in the file and ${expected[name]} in the manifest`,
    }));
}
