// Log lines about repairs: what a device did to files of its own that were not as they should be.
import type { PartitionRef } from '@ringwright/partition/file/data-paths';

export interface Repair extends PartitionRef {
  readonly sentence: string;
  /** Devices that gave their records. */
  readonly from?: readonly number[];
}

export const folderDeleted = 'folder deleted while no server ran';

const sentences = {
  replaced: 'damaged file replaced by an empty one, which refills',
  missed: `${folderDeleted}: replaced by an empty one, which refills`,
  rewritten: 'deleted file rewritten with all its records, since it was still open',
};

export function repaired(
  how: keyof typeof sentences,
  { keyspace, partition }: PartitionRef,
): Repair {
  return { keyspace, partition, sentence: sentences[how] };
}

export function refilled(
  keyspace: string,
  partition: number,
  {
    copy,
    merged,
    isForced,
  }: {
    readonly copy: { readonly device: number } | null;
    readonly merged: readonly number[];
    readonly isForced?: boolean;
  },
): Repair {
  const from = copy === null ? merged : [copy.device, ...merged];
  const sentence =
    isForced === true
      ? 'partition refilled from the files left, forced by an operator: records may be missing'
      : 'partition refilled: it is complete';
  return { keyspace, partition, from, sentence };
}
