// Handoffs of a partition in Swift's order: the devices to use when its own are unavailable. Pure.
// First a device in each region that has none yet, then each zone, each server, then all the rest.
import { must } from '@ringwright/base/assert';
import type { Device } from './device.ts';
import { md5Top } from './partitioner/md5-top.ts';
import { deviceIn, type Ring } from './ring.ts';
import { holdersOf } from './slots-of.ts';

/** Tiers from the widest to the device itself: two devices share one when the texts are equal. */
const tierOf: readonly ((device: Device) => string)[] = [
  ({ region }) => `${region}`,
  ({ region, zone }) => `${region} ${zone}`,
  ({ region, zone, ip }) => `${region} ${zone} ${ip}`,
  ({ id }) => `${id}`,
];

/** Number of tiers of each kind with slots: a walk stops once it has visited all of them. */
type TierCounts = readonly number[];

/** O(slots). Callers with many partitions compute it once per ring. */
export function tierCountsOf(ring: Pick<Ring, 'table' | 'devices' | 'moves'>): TierCounts {
  const holdsSlots = new Uint8Array(ring.devices.length);
  for (const row of ring.table) {
    for (let partition = 0; partition < row.length; partition += 1) {
      holdsSlots[row[partition] ?? 0] = 1;
    }
  }
  for (const { to } of ring.moves) holdsSlots[to] = 1;
  const devices = ring.devices.filter((device) => device !== null && holdsSlots[device.id] === 1);
  return tierOf.map((tier) => new Set(devices.map((device) => tier(must(device, 'a hole')))).size);
}

/**
 * Yields every device with slots that holds nothing of the partition, best stand-in first. Same as
 * Swift's `get_more_nodes`; joiners of the partition count as holders.
 */
export function* handoffsOf(ring: Ring, partition: number, counts: TierCounts): Generator<Device> {
  const deviceAt = (id: number): Device => must(ring.devices[id], `device ${id} is a hole`);
  const used = tierOf.map(() => new Set<string>());
  const use = (device: Device): void => {
    for (const [index, tier] of tierOf.entries()) used[index]?.add(tier(device));
  };
  for (const holder of holdersOf(ring, partition)) use(deviceAt(holder));
  for (const [index, tier] of tierOf.entries()) {
    const seen = must(used[index], 'a set per tier');
    for (const id of walk(ring, partition)) {
      if (seen.size >= (counts[index] ?? 0)) break;
      const device = deviceAt(id);
      if (seen.has(tier(device))) continue;
      use(device);
      yield device;
    }
  }
}

/**
 * Yields device ids in the order in which a handoff is searched: from a pseudo-random partition to
 * the end, then from the front. Like Swift, it skips partitions in large rings, and partition 0
 * unless the walk begins there: both systems must find the same handoffs.
 */
function* walk({ table, partitions }: Ring, partition: number): Generator<number> {
  const start = Math.floor((md5Top(Buffer.from(String(partition))) * partitions) / 2 ** 32);
  const step = Math.max(1, Math.floor(partitions / 65_536));
  const wrapped = step - ((partitions - start) % step);
  for (let at = start; at < partitions; at += step) yield* column(table, at);
  for (let at = wrapped; at < start; at += step) yield* column(table, at);
}

function* column(table: Ring['table'], partition: number): Generator<number> {
  for (const row of table) {
    const device = deviceIn(row, partition);
    if (device !== undefined) yield device;
  }
}
