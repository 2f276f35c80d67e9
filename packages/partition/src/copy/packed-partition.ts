// A small partition without its file: its marks and its records in one message. The receiver's
// helper process builds a file from them.
import {
  packedPartitionBytesMax,
  smallPartitionBytesMax,
  smallPartitionRowsMax,
  unpackedFileBytesMax,
} from '@ringwright/base/limits-copies';
import { isEmpty, type Partition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import type { PartitionInfo, TombstoneMarks } from '../file/partition-info.ts';
import { recordsSince } from '../file/read-records.ts';
import { packRecords } from '../file/record-bytes.ts';
import type { StoreParts } from '../store/store-parts.ts';
import { type FileUse, readPartitionFile } from '../store/use-partition.ts';
import { type CopyDescription, described } from './copy-manifest.ts';
import { reserveCopy } from './staged-copy.ts';

export interface PackedPartition
  extends Omit<CopyDescription, 'bytes' | 'walBytes'>,
    TombstoneMarks {
  /** See packRecords. */
  readonly records: Uint8Array;
}

const bounds = { rowsMax: smallPartitionRowsMax, bytesMax: smallPartitionBytesMax };

/**
 * Packs the partition as it is now; null if it is not small. Throws PARTITION_DAMAGED,
 * RECORD_DAMAGED.
 */
export function packPartition(parts: FileUse, partition: Partition): PackedPartition | null {
  const { infoWhenClosed } = partition;
  return isEmpty(partition) && infoWhenClosed !== null
    ? packed(infoWhenClosed, new Uint8Array())
    : readPartitionFile(parts, partition, packFile);
}

function packFile(file: PartitionFile): PackedPartition | null {
  const info = file.info();
  if (info.rows + info.tombstones > bounds.rowsMax || info.bytes > bounds.bytesMax) return null;
  const { rows, more } = recordsSince(file, 0, bounds);
  const records = packRecords(rows);
  return more || records.length > packedPartitionBytesMax ? null : packed(info, records);
}

function packed(info: PartitionInfo, records: Uint8Array): PackedPartition {
  const { barrierMs, floorMs } = info;
  return { ...described(info), barrierMs, floorMs, records };
}

/**
 * Makes the records the partition's file, together with the rows written here meanwhile, as for a
 * copied file. Throws COPY_INVALID, changing nothing here, when the records do not match their
 * digest; DISK_FULL before a byte is written.
 */
export async function unpackPartition(
  parts: StoreParts,
  partition: Partition,
  { barrierMs, floorMs, records, ...about }: PackedPartition,
): Promise<PartitionInfo> {
  const staged = await reserveCopy(parts, partition, { ...about, bytes: unpackedFileBytesMax });
  try {
    return await staged.make({ barrierMs, floorMs, records });
  } finally {
    await staged.remove();
  }
}
