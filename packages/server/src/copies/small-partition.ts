// Which partitions are so small that their records are less work than a copy of the file. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { smallPartitionBytesMax, smallPartitionRowsMax } from '@ringwright/base/limits-copies';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';

/** The most that one has. */
export const smallBounds = { rowsMax: smallPartitionRowsMax, bytesMax: smallPartitionBytesMax };

/** Throws COPY_NEEDLESS of a small one, if its records are taken instead, and of an empty one. */
export function requireMany(info: PartitionInfo | null, takesRows: boolean): void {
  if (info === null) return;
  const records = info.rows + info.tombstones;
  const isSmall = records <= smallBounds.rowsMax && info.bytes <= smallBounds.bytesMax;
  const isEmpty = info.seq === 0 && info.floorMs === 0;
  if (!isEmpty && !(isSmall && takesRows)) return;
  const message = `partition ${info.partition} has ${records} records here`;
  throw new CodedError('COPY_NEEDLESS', message);
}
