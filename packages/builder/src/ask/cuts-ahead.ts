// Where partitions are cut before their keys come: EventQL's split ahead of time. Pure.
import { keyText } from '@ringwright/ring/partitioner/key-text';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { RangesPartitioner } from '@ringwright/ring/partitioner/partitioner';

export interface CutsAhead {
  readonly partition: number;
  /** Keys with which its later parts begin. */
  readonly at: readonly string[];
}

/** The cuts that are not there yet, by the partition that they cut. */
export function cutsAhead(partitioner: RangesPartitioner, keys: readonly string[]): CutsAhead[] {
  const partitionOf = partitionerOf(partitioner);
  const there = new Set(partitioner.starts);
  const cuts = new Map<number, string[]>();
  for (const key of new Set(keys)) {
    const bytes = Buffer.from(key);
    const start = keyText(bytes);
    if (there.has(start)) continue;
    const partition = partitionOf(bytes);
    cuts.set(partition, [...(cuts.get(partition) ?? []), start]);
  }
  return [...cuts].map(([partition, at]) => ({ partition, at }));
}
