// The tombstone floor of a partition, as most of its holders tell it. What lies below a floor and
// is not in a file counts as deleted: on the word of one device that lies every other one would
// refill, and lose its records.
import { CodedError } from '@ringwright/base/coded-error';
import { quorumOf } from '@ringwright/ring/quorum';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { DeviceCaller } from './device-caller.ts';
import { holdingAt } from './holdings.ts';

interface Place {
  readonly active: ActiveRing;
  readonly partition: number;
}

/**
 * The highest floor that a quorum of the holders has, without this device; 0: none. A floor is
 * raised when all have promised it, and each has it soon after, so a true one is that of most. Of
 * two holders the other one's word is all there is.
 */
export async function heldFloor(
  devices: DeviceCaller,
  place: Place,
  nowMs: number,
): Promise<number> {
  const { active, partition } = place;
  const holders = new Set(slotsOf(active.ring, partition).map(({ device }) => device));
  const others = [...holders].filter((device) => device !== active.self);
  const floors = await Promise.all(others.map((device) => floorAt(devices, place, device)));
  // One that is still to come would swallow what is written until then.
  const past = floors.map((floorMs) => (floorMs > nowMs ? 0 : floorMs));
  const needed = holders.size > 2 ? quorumOf(holders.size) : 1;
  return past.toSorted((a, b) => b - a)[needed - 1] ?? 0;
}

async function floorAt(devices: DeviceCaller, place: Place, device: number): Promise<number> {
  try {
    const holding = await holdingAt(devices, place, device);
    return holding?.state === 'ready' ? holding.floorMs : 0;
  } catch (error) {
    if (error instanceof CodedError) return 0; // it is away
    throw error;
  }
}
