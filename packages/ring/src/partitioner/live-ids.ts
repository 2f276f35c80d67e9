// Which ids of a partitioner belong to partitions that take keys. Pure.
import { intervalCountOf, isIntervals, type Partitioner, partitionCountOf } from './partitioner.ts';

const known = new WeakMap<Partitioner, Uint8Array>();

/** Returns 1 by id with an interval; null when all have one. Cached for the pages of scans. */
export function liveIds(partitioner: Partitioner): Uint8Array | null {
  if (!isIntervals(partitioner)) return null;
  const { partitions } = partitioner;
  const count = intervalCountOf(partitioner);
  if (count === partitions) return null;
  const found = known.get(partitioner);
  if (found !== undefined) return found;
  const live = new Uint8Array(partitions);
  for (let index = 0; index < count; index += 1) live[partitioner.ids?.[index] ?? index] = 1;
  known.set(partitioner, live);
  return live;
}

/** Whether there is such a partition: it was not split or merged, nor is it still being made. */
export function isLive(partitioner: Partitioner, id: number): boolean {
  const live = liveIds(partitioner);
  return live === null ? id < partitionCountOf(partitioner) : live[id] === 1;
}
