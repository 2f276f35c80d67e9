// What fewer replicas mean: the slots that end, and the effect of one failure afterwards. Pure.

import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';
import { quorumOf } from '@ringwright/ring/quorum';
import { type Ring, rowLengths, slotCount } from '@ringwright/ring/ring';

export interface ReplicaLoss {
  readonly before: number;
  readonly after: number;
  /** Slots that end: their devices drop the files, which is not a move. */
  readonly slots: number;
  /** Partitions that keep one replica: the failure of its device loses records. */
  readonly single: number;
  /** Partitions that lose their write quorum with one replica, those of `single` included. */
  readonly fragile: number;
}

/** Returns null when no slot ends. */
export function replicaLoss(
  { partitioner, replicas: before }: Pick<Ring, 'partitioner' | 'replicas'>,
  after: number,
): ReplicaLoss | null {
  const partitions = liveCountOf(partitioner);
  const slots = slotCount(partitions, before) - slotCount(partitions, after);
  if (slots <= 0) return null;
  const lengths = rowLengths(partitions, after);
  const most = lengths.length;
  const full = lengths.at(-1) ?? 0;
  const countWhere = (matches: (replicas: number) => boolean): number =>
    (matches(most) ? full : 0) + (matches(most - 1) ? partitions - full : 0);
  return {
    ...{ before, after, slots },
    single: countWhere((replicas) => replicas < 2),
    fragile: countWhere((replicas) => replicas - 1 < quorumOf(replicas)),
  };
}
