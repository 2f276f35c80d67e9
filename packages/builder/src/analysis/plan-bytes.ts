// Bytes that each device holds before and after a plan, by the sizes of partitions. Pure.
import { deviceIn, type Ring, type Table } from '@ringwright/ring/ring';
import { allMoves } from '../plan/later-waves.ts';
import type { Plan } from '../plan/plan.ts';
import { wantedIntervals } from '../plan/plan-reshape.ts';
import type { BuilderState } from '../state/builder-state.ts';

interface DeviceBytes {
  readonly id: number;
  readonly before: number;
  readonly after: number;
}

export interface PlanBytes {
  readonly devices: readonly DeviceBytes[];
  /** The fullest device relative to the mean, per share: 1 is even. Null when nothing is held. */
  readonly fullest: { readonly before: number | null; readonly after: number | null };
  /** Partitions without a reported size: taken as the mean of the others. */
  readonly guessed: number;
}

/**
 * Returns the bytes after all waves. Null without known sizes, and for splits and merges, which
 * copy nothing.
 */
export function planBytes(
  plan: Plan,
  { head, state }: { readonly head: Ring; readonly state: BuilderState },
  sizeOf: (partition: number) => number | null,
): PlanBytes | null {
  if (wantedIntervals(head, state) !== null) return null;
  const [row] = head.table;
  const ids = [...(row ?? []).keys()].filter((id) => row && deviceIn(row, id) !== undefined);
  const known = ids.map(sizeOf).filter((size) => size !== null);
  if (known.length === 0) return null;
  const mean = known.reduce((sum, size) => sum + size, 0) / known.length;
  const bytesOf = (partition: number): number => sizeOf(partition) ?? mean;
  const before = bytesPerDevice(head.table, bytesOf);
  const after = bytesPerDevice((plan.cut ?? head).table, bytesOf);
  // Moves in flight end first. A cut table already includes them.
  const landing = plan.cut === null ? head.moves : [];
  for (const { partition, from, to } of [...landing, ...allMoves(plan)]) {
    if (from !== null) add(after, from, -bytesOf(partition));
    add(after, to, bytesOf(partition));
  }
  const devices = plan.devices.map(({ id }) => ({
    id,
    before: Math.round(before.get(id) ?? 0),
    after: Math.round(after.get(id) ?? 0),
  }));
  return {
    devices,
    fullest: { before: fullest(before, plan), after: fullest(after, plan) },
    guessed: ids.length - known.length,
  };
}

function bytesPerDevice(table: Table, bytesOf: (partition: number) => number): Map<number, number> {
  const bytesByDevice = new Map<number, number>();
  for (const row of table) {
    for (let partition = 0; partition < row.length; partition += 1) {
      const id = deviceIn(row, partition);
      if (id !== undefined) add(bytesByDevice, id, bytesOf(partition));
    }
  }
  return bytesByDevice;
}

function add(bytesByDevice: Map<number, number>, id: number, bytes: number): void {
  bytesByDevice.set(id, (bytesByDevice.get(id) ?? 0) + bytes);
}

/**
 * Returns the relative load of the fullest device. Ignores devices without share, which give all of
 * their slots away.
 */
function fullest(bytesByDevice: ReadonlyMap<number, number>, { devices }: Plan): number | null {
  const sharing = devices.filter(({ share }) => share > 0);
  const shares = sharing.reduce((sum, { share }) => sum + share, 0);
  const bytes = sharing.reduce((sum, { id }) => sum + (bytesByDevice.get(id) ?? 0), 0);
  if (bytes === 0) return null;
  const most = Math.max(...sharing.map(({ id, share }) => (bytesByDevice.get(id) ?? 0) / share));
  return most / (bytes / shares);
}
