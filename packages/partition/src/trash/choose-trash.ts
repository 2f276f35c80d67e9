// Which dropped partitions go for good: too old, too many bytes, or their room is needed. Pure.
import type { TrashItem } from './trash.ts';

export interface TrashLimits {
  /** Dropped before this time of the wall clock: gone. */
  readonly beforeMs: number;
  /** Of all that stays. */
  readonly bytesMax: number;
  /** Bytes that something else lacks now: the trash is a kindness and keeps no room from it. */
  readonly bytesNeeded: number;
}

/** The oldest go first. `items`: oldest first. */
export function chooseTrash(items: readonly TrashItem[], limits: TrashLimits): TrashItem[] {
  const { beforeMs, bytesMax, bytesNeeded } = limits;
  let left = items.reduce((sum, { bytes }) => sum + bytes, 0);
  const mayStay = Math.min(bytesMax, left - bytesNeeded);
  return items.filter(({ atMs, bytes }) => {
    const goes = atMs < beforeMs || left > mayStay;
    if (goes) left -= bytes;
    return goes;
  });
}
