// Bytes per partition and free space per device, asked of the servers of a ring.
import { allMoves } from '@ringwright/builder/later-waves';
import type { KnownSizes } from '@ringwright/builder/plan-traffic';
import { fanOut } from './fan-out.ts';
import { lastPushed, type PreparedPlan } from './prepare-plan.ts';
import { ringTargets, type Target } from './ring-targets.ts';
import { serverStatus } from './server-status.ts';

/** A plan should not wait long for figures it can do without. */
const SIZES_TIMEOUT_MS = 1_500;

export interface AskedSizes extends KnownSizes {
  /** Mean bytes of a partition file, null when nobody answered. */
  readonly meanBytes: number | null;
  readonly asked: number;
  readonly answered: number;
}

export async function askSizes(ring: string, targets: readonly Target[]): Promise<AskedSizes> {
  const partitions = new Map<number, number>();
  const devices = new Map<number, { bytes: number; free: number }>();
  const options = { sizesOf: ring, timeoutMs: SIZES_TIMEOUT_MS };
  const statuses = await fanOut(targets, async ({ address }) => {
    return serverStatus(address, options).catch(() => null);
  });
  statuses.forEach((status, index) => {
    if (status === null) return;
    for (const [partition, bytes] of status.sizes ?? []) {
      partitions.set(partition, Math.max(bytes, partitions.get(partition) ?? 0));
    }
    const free = status.disk?.freeBytes;
    const bytes = status.rings.find((one) => one.ring === ring)?.bytes ?? 0;
    if (free === undefined) return;
    for (const id of targets[index]?.devices ?? []) devices.set(id, { bytes, free });
  });
  const all = [...partitions.values()];
  return {
    partitionBytes: (partition) => partitions.get(partition) ?? null,
    deviceBytes: (device) => devices.get(device) ?? null,
    meanBytes: all.length === 0 ? null : all.reduce((sum, one) => sum + one, 0) / all.length,
    asked: targets.length,
    answered: statuses.filter((status) => status !== null).length,
  };
}

/** Null when nothing is copied: then no server need be asked. */
export async function sizesFor(prepared: PreparedPlan): Promise<AskedSizes | null> {
  const { plan, opened, head, direct, state } = prepared;
  const pushed = lastPushed(opened.entries) !== null;
  if (head === null || direct || !pushed || allMoves(plan).length === 0) return null;
  // With the devices that are to join: their disks have to take the most.
  return askSizes(plan.ring, ringTargets({ ...head.ring, devices: state.devices }, state));
}
