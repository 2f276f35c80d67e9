// Chooses the dropped partitions to delete: too old, too many bytes, or their space is needed.
// Pure.
import type { TrashItem } from './trash.ts';

export interface TrashLimits {
  /** Partitions dropped before this wall-clock time are deleted. */
  readonly beforeMs: number;
  /** Maximum bytes of all that stays. */
  readonly bytesMax: number;
  /** Bytes that something else needs now; the trash never withholds space from it. */
  readonly bytesNeeded: number;
}

/** Chooses the oldest first. `items`: oldest first. */
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
