// What other holders have of the files here, for whoever has the store.
import { type FileTail, isCoveredBy, tailOf } from '../file/file-tail.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import { checkOpen, partitionOf, type StoreParts } from './store-parts.ts';
import { readPartitionFile } from './use-partition.ts';

interface Place {
  readonly keyspace: string;
  readonly partition: number;
}

/** All throw PARTITION_ABSENT and PARTITION_DAMAGED. */
export interface StorePeers {
  /** The sequence up to which `peer` has confirmed this incarnation; 0 when it has not. */
  readonly confirmed: (place: Place, peer: string) => number;
  /** Notes in an open file that `peer` has all up to `seq`. Throws VALUE_OUT_OF_RANGE above its own. */
  readonly confirm: (place: Place, peer: string, seq: number) => void;
  /** For another holder to compare its file with: the last rows, and the digest of all. */
  readonly tail: (place: Place, rowsMax: number) => FileTail;
  /** Whether another file, by its tail, has each record of this one or a newer one of its key. */
  readonly isCoveredBy: (place: Place, tail: Pick<FileTail, 'digest' | 'rows'>) => boolean;
}

export function storePeers(parts: StoreParts): StorePeers {
  const withFile = <T>(place: Place, use: (file: PartitionFile) => T): T => {
    checkOpen(parts);
    return readPartitionFile(parts, partitionOf(parts, place), use);
  };
  return {
    confirmed: (place, peer) => withFile(place, (file) => file.watermarks.get(peer)),
    // A closed file is not opened for it.
    confirm: (place, peer, seq) => {
      checkOpen(parts);
      const { file, damage } = partitionOf(parts, place);
      if (damage !== null) throw damage;
      file?.confirm(peer, seq);
    },
    tail: (place, rowsMax) => withFile(place, (file) => tailOf(file, rowsMax)),
    isCoveredBy: (place, tail) => withFile(place, (file) => isCoveredBy(file, tail)),
  };
}
