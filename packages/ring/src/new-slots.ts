// Slots that a larger number of replicas adds to a table. They enter it together. Pure.
import { assert } from '@ringwright/base/assert';
import type { Move } from './move.ts';
import { liveCountOf } from './partitioner/partitioner.ts';
import { noDeviceIn, type Ring, type SlotRow, slotTotal } from './ring.ts';
import { zeroTable } from './slot-rows.ts';

/**
 * Returns the number of replicas once `fresh` new slots are in the table. Columns left behind by a
 * split or merge get none.
 */
export function grownReplicas(ring: Pick<Ring, 'partitioner' | 'replicas'>, fresh: number): number {
  return (slotTotal(ring) + fresh) / liveCountOf(ring.partitioner);
}

/** Returns the table with the new slots of these moves after its last slot. */
export function withNewSlots(
  ring: Ring,
  table: SlotRow[],
  done: readonly Move[],
): Pick<Ring, 'replicas' | 'table'> {
  const fresh = done.filter(({ from }) => from === null);
  if (fresh.length === 0) return { replicas: ring.replicas, table };
  const replicas = grownReplicas(ring, fresh.length);
  const grown = zeroTable(ring.partitions, replicas, ring.devices.length);
  for (const [replica, row] of grown.entries()) {
    row.fill(noDeviceIn(row));
    row.set(table[replica] ?? []);
  }
  for (const { partition, replica, to } of fresh) {
    const row = grown[replica];
    assert(row !== undefined && partition < row.length, `no new slot (${partition}, ${replica})`);
    row[partition] = to;
  }
  return { replicas, table: grown };
}
