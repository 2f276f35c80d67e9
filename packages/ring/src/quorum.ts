// More than half. Pure.
import { holderIn, type Ring, type SlotRow, slotsAt } from './ring.ts';

/** What servers ask for at consistency level quorum. */
export function quorumOf(slots: number): number {
  return Math.floor(slots / 2) + 1;
}

/** Devices that hold a partition. */
export function devicesOf(rows: readonly SlotRow[], partition: number): number[] {
  return rows.flatMap((row) => holderIn(row, partition) ?? []);
}

/**
 * A slot that moves is not lost: its old device serves until the copy is verified. But one copy
 * that stays, of three, is one failure away from none. With two replicas one must stay. Slots of
 * removed devices count as lost; there even a single replica is too few.
 */
export function countUnderQuorum(
  { table, partitions }: Ring,
  leaving: ReadonlyMap<number, number>,
  removed: ReadonlySet<number>,
): number {
  const tooFew = (kept: number, holders: number, least: number): boolean =>
    kept < Math.min(quorumOf(holders), Math.max(least, holders - 1));
  let under = 0;
  if (removed.size === 0) {
    for (const [partition, count] of leaving) {
      const holders = devicesOf(table, partition).length;
      if (tooFew(holders - count, holders, 0)) under += 1;
    }
    return under;
  }
  for (let partition = 0; partition < partitions; partition += 1) {
    const holders = devicesOf(table, partition);
    const lost = holders.filter((id) => removed.has(id)).length;
    const staying = holders.length - (leaving.get(partition) ?? 0);
    const lostTooMany = lost > 0 && tooFew(holders.length - lost, holders.length, 1);
    if (lostTooMany || tooFew(staying, holders.length, 0)) under += 1;
  }
  return under;
}

/** By row lengths alone: it matters how many a partition has, not which. */
export function countThinned(previous: Ring, next: Ring): number {
  if (next.replicas >= previous.replicas) return 0;
  let thinned = 0;
  for (let partition = 0; partition < next.partitions; partition += 1) {
    const [had, has] = [slotsAt(previous, partition), slotsAt(next, partition)];
    if (has < had && (has < 2 || has < quorumOf(had))) thinned += 1;
  }
  return thinned;
}
