// What other holders have of the records here.
import type { PartitionPlace } from '../file/data-paths.ts';
import { type FileTail, isCoveredBy, tailOf } from '../file/file-tail.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import { partitionOf, type StoreParts } from './store-parts.ts';
import { readPartitionFile } from './use-partition.ts';

/** All methods throw PARTITION_ABSENT and PARTITION_DAMAGED. */
export function storePeers(parts: StoreParts) {
  const withFile = <T>(place: PartitionPlace, use: (file: PartitionFile) => T): T =>
    readPartitionFile(parts, partitionOf(parts, place), use);
  return {
    /**
     * The sequence up to which `peer` has confirmed this incarnation; 0 if it has confirmed
     * nothing.
     */
    confirmed: (place: PartitionPlace, peer: string) =>
      withFile(place, (file) => file.watermarks.get(peer)),
    /**
     * Notes that `peer` holds everything up to `seq`; does not open a closed file for it. Throws
     * VALUE_OUT_OF_RANGE above the file's own sequence.
     */
    confirm: (place: PartitionPlace, peer: string, seq: number): void => {
      const { file, damage } = partitionOf(parts, place);
      if (damage !== null) throw damage;
      file?.confirm(peer, seq);
    },
    /** The last rows and the digest of all, so that another holder can compare its file. */
    tail: (place: PartitionPlace, rowsMax: number) =>
      withFile(place, (file) => tailOf(file, rowsMax)),
    /**
     * Whether another file, judged by its tail, has each record of this one or a newer one of its
     * key.
     */
    isCoveredBy: (place: PartitionPlace, tail: Pick<FileTail, 'digest' | 'rows'>) =>
      withFile(place, (file) => isCoveredBy(file, tail)),
  };
}
