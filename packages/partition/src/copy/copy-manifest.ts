// What a source says about a copied file; the receiver verifies all of it. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { partitionFileBytesMax } from '@ringwright/base/limits-store';
import { isKeyedChecksum } from '../audit/keyed-checksum.ts';
import { checkPartitionName, isIncarnation, type PartitionRef } from '../file/data-paths.ts';
import { parseDigest } from '../file/digest.ts';
import type { TombstoneMarks } from '../file/partition-info.ts';

/** The part of a manifest that is known before the bytes are read. */
export interface CopyDescription extends PartitionRef {
  /** Incarnation of the source's file, in which `seq` counts. */
  readonly sourceIncarnation: string;
  /** The copy has everything up to this sequence, according to the copied file itself. */
  readonly seq: number;
  /** Length of the file, including its WAL. */
  readonly bytes: number;
  /** The WAL's share of `bytes`, at the end; absent: no WAL. */
  readonly walBytes?: number;
  readonly rows: number;
  readonly tombstones: number;
  /** Content digest, as in PartitionInfo. */
  readonly digest: string;
  /**
   * Returns the highest marks that the copy may have, according to the other holders. Called only
   * for a copy that has marks. Absent: any marks are accepted.
   */
  readonly marksMax?: (() => Promise<TombstoneMarks>) | undefined;
}

export interface CopyManifest extends CopyDescription {
  /** Keyed checksum of the file: keyed-checksum.ts. */
  readonly seal: string;
}

/** What a file says of itself, as its source tells it. */
export function described(
  file: Omit<CopyDescription, 'sourceIncarnation' | 'bytes'> & { readonly incarnation: string },
): Omit<CopyDescription, 'bytes' | 'walBytes'> {
  const { keyspace, partition, incarnation, seq, rows, tombstones, digest } = file;
  return { keyspace, partition, sourceIncarnation: incarnation, seq, rows, tombstones, digest };
}

/** Throws COPY_INVALID for a manifest that no snapshot can have. */
export function checkManifest(manifest: CopyManifest): void {
  checkDescription(manifest);
  if (!isKeyedChecksum(manifest.seal)) throw wrong('its keyed checksum is not 64 hex digits');
}

/** Throws COPY_INVALID for a description that no file can have. */
export function checkDescription(manifest: CopyDescription): void {
  checkPartitionName(manifest.keyspace, manifest.partition);
  if (!isIncarnation(manifest.sourceIncarnation))
    throw wrong('its source incarnation is not an id');
  if (parseDigest(manifest.digest) === null) throw wrong('its digest is not 16 hex digits');
  for (const name of ['seq', 'bytes', 'walBytes', 'rows', 'tombstones'] as const) {
    const value = manifest[name] ?? 0;
    if (!Number.isSafeInteger(value) || value < 0) throw wrong(`${name} is ${value}`);
  }
  if (manifest.bytes === 0 || manifest.bytes > partitionFileBytesMax) {
    throw wrong(`${manifest.bytes} bytes, allowed are 1 to ${partitionFileBytesMax}`);
  }
  if ((manifest.walBytes ?? 0) >= manifest.bytes) throw wrong('it has a WAL and no file');
}

/**
 * Throws COPY_INVALID if the marks of a copy are higher than the other holders confirm: local
 * records below such a floor would be dropped. A floor is never above its barrier, so a copy
 * without a barrier needs no question.
 */
export async function checkMarks(
  marksMax: CopyDescription['marksMax'],
  marks: TombstoneMarks,
): Promise<void> {
  if (marksMax === undefined || marks.barrierMs === 0) return;
  const most = await marksMax();
  for (const name of ['floorMs', 'barrierMs'] as const) {
    if (marks[name] <= most[name]) continue;
    throw wrong(`${name} is ${marks[name]}, but other holders confirm only ${most[name]}`);
  }
}

function wrong(problem: string): CodedError {
  const hint = 'request the copy from the source again';
  return new CodedError('COPY_INVALID', `manifest of a copy: ${problem}`, { hint });
}
