// Quorums: more than half of a partition's slots. Pure.
import { deviceIn, type Ring, type SlotRow, slotsAt } from './ring.ts';

/** Returns the number of slots that consistency level quorum requires. */
export function quorumOf(slots: number): number {
  return Math.floor(slots / 2) + 1;
}

/** Returns the devices that hold a partition. */
export function deviceIdsAt(rows: readonly SlotRow[], partition: number): number[] {
  return rows.flatMap((row) => deviceIn(row, partition) ?? []);
}

/**
 * Counts the partitions that keep too few slots in place. A moving slot is not lost, because its
 * old device serves until the copy is verified. But if only one of three copies stays, one failure
 * leaves none. With two replicas, one must stay. Slots of removed devices count as lost; then even
 * the loss of a single replica is too much.
 */
export function countUnderQuorum(
  { table }: Ring,
  leaving: ReadonlyMap<number, number>,
  removed: ReadonlySet<number>,
): number {
  const tooFew = (kept: number, holders: number, least: number): boolean =>
    kept < Math.min(quorumOf(holders), Math.max(least, holders - 1));
  let under = 0;
  // Without removed devices, only partitions that holders leave can keep too few.
  for (const partition of removed.size === 0 ? leaving.keys() : (table[0] ?? []).keys()) {
    const holders = deviceIdsAt(table, partition);
    const lost = holders.filter((id) => removed.has(id)).length;
    const staying = holders.length - (leaving.get(partition) ?? 0);
    const lostTooMany = lost > 0 && tooFew(holders.length - lost, holders.length, 1);
    if (lostTooMany || tooFew(staying, holders.length, 0)) under += 1;
  }
  return under;
}

/** Counts the partitions that lose replicas and keep too few. Only their number matters. */
export function countThinned(previous: Ring, next: Ring): number {
  if (next.replicas >= previous.replicas) return 0;
  let thinned = 0;
  for (let partition = 0; partition < next.partitions; partition += 1) {
    const [had, has] = [slotsAt(previous, partition), slotsAt(next, partition)];
    if (has < had && (has < 2 || has < quorumOf(had))) thinned += 1;
  }
  return thinned;
}
