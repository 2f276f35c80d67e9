// What fewer replicas mean: slots that end, and what one failure does from then on. Pure.

import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';
import { quorumOf } from '@ringwright/ring/quorum';
import { type Ring, rowLengths, slotCount } from '@ringwright/ring/ring';

export interface ReplicaLoss {
  readonly before: number;
  readonly after: number;
  /** Slots that end: their devices give the files up, which is no move. */
  readonly slots: number;
  /** Partitions that keep one replica: a device that fails then takes records with it. */
  readonly single: number;
  /** Partitions that may lose no replica without losing their write quorum, those included. */
  readonly fragile: number;
}

/** Null when no slot ends. */
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
