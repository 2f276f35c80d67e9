// Returns as moves the slots in which two placements have different leaves. Pure.
import type { Table } from '@ringwright/ring/ring';
import type { Placement } from '../placement/placement.ts';
import { replicasOf } from '../placement/rebalance-work.ts';
import type { PlannedMove } from './plan.ts';

/**
 * Sorted by partition, then replica. `table` has the devices of `before`, also those without leaf.
 */
export function movesBetween(
  table: Table,
  change: { before: Placement; after: Placement; ids: Int32Array },
): PlannedMove[] {
  const { before, after, ids } = change;
  const moves: PlannedMove[] = [];
  for (let partition = 0; partition < after.partitions; partition += 1) {
    const start = partition * after.width;
    for (let replica = 0; replica < replicasOf(after, partition); replica += 1) {
      const leaf = after.leaf[start + replica]!;
      if (leaf === before.leaf[start + replica]) continue;
      const from = table[replica]?.[partition] ?? null;
      moves.push({ partition, replica, from, to: ids[leaf]! });
    }
  }
  return moves;
}
