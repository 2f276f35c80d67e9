// The tombstone floor of a partition, as confirmed by a quorum of its holders. A key below the
// floor that a file lacks counts as deleted. If one device were believed, a lying one could make
// every other device refill and lose its records.
import { CodedError } from '@ringwright/base/coded-error';
import { quorumOf } from '@ringwright/ring/quorum';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { ActivePartition } from '../rings/active-ring.ts';
import type { DeviceCaller } from './device-caller.ts';
import { holdingAt } from './holdings.ts';

/**
 * Returns the highest floor that a quorum of the holders has, not counting this device; 0 if there
 * is none. A floor rises after all holders have promised it, and all have it soon after, so most
 * holders have a true floor. With two holders, the other one alone decides.
 */
export async function quorumFloor(
  devices: DeviceCaller,
  target: ActivePartition,
  nowMs: number,
): Promise<number> {
  const { active, partition } = target;
  const holders = new Set(slotsOf(active.ring, partition).map(({ device }) => device));
  const others = [...holders].filter((device) => device !== active.self);
  const floors = await Promise.all(others.map((device) => floorAt(devices, target, device)));
  // A floor in the future would delete what is written until then.
  const pastFloors = floors.map((floorMs) => (floorMs > nowMs ? 0 : floorMs));
  const needed = holders.size > 2 ? quorumOf(holders.size) : 1;
  return pastFloors.toSorted((a, b) => b - a)[needed - 1] ?? 0;
}

async function floorAt(
  devices: DeviceCaller,
  target: ActivePartition,
  device: number,
): Promise<number> {
  try {
    const holding = await holdingAt(devices, target, device);
    return holding?.state === 'ready' ? holding.floorMs : 0;
  } catch (error) {
    if (error instanceof CodedError) return 0; // the device is unreachable
    throw error;
  }
}
