// What a device did to files of its own that were not what they should be: lines of its log.

export interface Repair {
  readonly keyspace: string;
  readonly partition: number;
  readonly sentence: string;
  /** Devices that gave their records. */
  readonly from?: readonly number[];
}

export function replaced(keyspace: string, partition: number): Repair {
  const sentence = 'damaged file replaced by an empty one, which refills';
  return { keyspace, partition, sentence };
}

export function missed(keyspace: string, partition: number): Repair {
  const sentence = 'folder deleted while no server ran: begun as an empty one, which refills';
  return { keyspace, partition, sentence };
}

export function rewritten(keyspace: string, partition: number): Repair {
  const sentence = 'deleted file written anew with all its records, which were still open';
  return { keyspace, partition, sentence };
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
      ? 'partition refilled with what there was, as an operator said: records may be missing'
      : 'partition refilled: it is complete';
  return { keyspace, partition, from, sentence };
}
