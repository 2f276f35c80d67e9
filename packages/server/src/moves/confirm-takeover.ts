// Decides whether the acknowledgements of a joiner that the table has just named may count yet.
import { quorumOf } from '@ringwright/ring/quorum';
import { reshapeMappingOf } from '@ringwright/ring/reshape-ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { digests } from '@ringwright/wire/replication';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { ActiveRing } from '../rings/active-ring.ts';

/** The slots of a partition under the rings in which this device joined it. */
export interface FormerSlots {
  readonly devices: ReadonlySet<number>;
  /** The smallest number of slots in any of these rings. */
  readonly slots: number;
}

/** For unknown former rings: every other device must have the present ring. */
export const unknownSlots: FormerSlots = { devices: new Set(), slots: 1 };

/** Collects the holders under every ring in which this device was a joiner. */
export function rememberFormer({ ring, self }: ActiveRing, former: Map<number, FormerSlots>): void {
  for (const { partition, to } of ring.moves) {
    if (to !== self) continue;
    const before = former.get(partition);
    const [parent = partition] = reshapeMappingOf(ring).parents.get(partition) ?? [];
    const slots = slotsOf(ring, ring.reshape?.kind === 'to' ? parent : partition);
    former.set(partition, {
      devices: new Set([...(before?.devices ?? []), ...slots.map(({ device }) => device)]),
      slots: Math.min(before?.slots ?? slots.length, slots.length),
    });
  }
}

/**
 * Returns the partitions of `former` for which no quorum of a former ring can read or write any
 * more.
 *
 * When D has replaced C, a quorum of the new ring {A, D} and one of the old ring {B, C} have no
 * device in common. As long as B and C have not heard of the new ring, a read from them would miss
 * a write that the first quorum acknowledged. So D's acknowledgements count only when the former
 * devices left behind are too few for a quorum. Each device asked here activates the ring before it
 * answers.
 */
export async function confirmTakeover(
  devices: DeviceCaller,
  active: ActiveRing,
  former: ReadonlyMap<number, FormerSlots>,
): Promise<number[]> {
  const deviceIds = new Set(
    [...former].flatMap(([partition, formerSlots]) => othersOf(active, partition, formerSlots)),
  );
  const confirmed = new Set<number>();
  await Promise.all(
    [...deviceIds].map(async (device) => {
      if (await hasActivated(devices, active, device)) confirmed.add(device);
    }),
  );
  return [...former].flatMap(([partition, formerSlots]) => {
    const others = othersOf(active, partition, formerSlots);
    const behind = others.filter((device) => !confirmed.has(device)).length;
    const quorum = quorumOf(formerSlots.slots);
    return behind < quorum ? [partition] : [];
  });
}

/**
 * Uses the fence: a device that answers anything under a ring has activated this ring or a newer
 * one.
 */
async function hasActivated(
  devices: DeviceCaller,
  active: ActiveRing,
  device: number,
): Promise<boolean> {
  const { keyspace, version } = active.ring;
  const request = { keyspace, ringVersion: version, partitions: [] };
  try {
    await devices.call({ active, device }, digests, request);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns all devices that may take part in a quorum of a former ring, or of a ring between it and
 * the present one.
 */
function othersOf(active: ActiveRing, partition: number, { devices }: FormerSlots): number[] {
  const present = slotsOf(active.ring, partition).map(({ device }) => device);
  return [...new Set([...devices, ...present])].filter((device) => device !== active.self);
}
