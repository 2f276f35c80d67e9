// Partitions that take no keys any more, and whose records no other partition gets. Pure.
import { asIntervals } from '../partitioner/as-intervals.ts';
import { isLive } from '../partitioner/live-ids.ts';
import { samePartitioner } from '../partitioner/partitioner-settings.ts';
import { entriesOf } from '../partitioner/reshape.ts';
import { completesReshape, isSameReshape, reshapeMappingOf } from '../reshape-ring.ts';
import type { Ring } from '../ring.ts';

/** Counts partitions whose records `next` begins to retire. */
export function countRetired(previous: Ring, next: Ring): number {
  if (next.reshape?.kind !== 'to' || isSameReshape(previous.reshape, next.reshape)) return 0;
  const { parents, emptied } = reshapeMappingOf(next);
  return new Set([...emptied].flatMap((child) => parents.get(child) ?? [])).size;
}

/** Counts partitions that end at once, or otherwise than it was begun: nobody fills children. */
export function countLeftBehind(previous: Ring, next: Ring): number {
  if (samePartitioner(previous.partitioner, next.partitioner)) return 0;
  const intervals = asIntervals(previous.partitioner);
  if (intervals === null || completesReshape(previous, next)) return 0;
  return entriesOf(intervals).filter(({ id }) => !isLive(next.partitioner, id)).length;
}
