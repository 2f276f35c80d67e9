// A joiner that the table has just named: may its acknowledgements count yet?
import { quorumOf } from '@ringwright/ring/quorum';
import { parentsIn } from '@ringwright/ring/reshape-ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { digests } from '@ringwright/wire/replication';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { ActiveRing } from '../rings/active-ring.ts';

/** The slots of a partition under the rings that this device joined it in. */
export interface FormerSlots {
  readonly devices: ReadonlySet<number>;
  /** The fewest slots of one of these rings. */
  readonly slots: number;
}

/** Nothing is known of the rings before: everyone else must have the present one. */
export const unknownSlots: FormerSlots = { devices: new Set(), slots: 1 };

/** Adds up the holders under every ring in which this device was a joiner. */
export function rememberFormer({ ring, self }: ActiveRing, former: Map<number, FormerSlots>): void {
  for (const { partition, to } of ring.moves) {
    if (to !== self) continue;
    const before = former.get(partition);
    const [parent = partition] = parentsIn(ring).parents.get(partition) ?? [];
    const slots = slotsOf(ring, ring.reshape?.kind === 'to' ? parent : partition);
    former.set(partition, {
      devices: new Set([...(before?.devices ?? []), ...slots.map(({ device }) => device)]),
      slots: Math.min(before?.slots ?? slots.length, slots.length),
    });
  }
}

/**
 * The partitions of `former` of which no quorum of a former ring can read or write any more.
 *
 * When D has replaced C, a quorum of the new ring {A, D} and one of the old {B, C} have no device
 * in common: a write that the first acknowledged would be missing in what the second reads, as long
 * as B and C have not heard of the new ring. So D's acknowledgement counts only when too few former
 * devices for a quorum are left behind: each one asked here activates the ring before it answers.
 */
export async function confirmTakeover(
  devices: DeviceCaller,
  active: ActiveRing,
  former: ReadonlyMap<number, FormerSlots>,
): Promise<number[]> {
  const asked = new Set(
    [...former].flatMap(([partition, one]) => othersOf(active, partition, one)),
  );
  const confirmed = new Set<number>();
  await Promise.all(
    [...asked].map(async (device) => {
      if (await hasActivated(devices, active, device)) confirmed.add(device);
    }),
  );
  return [...former].flatMap(([partition, one]) => {
    const others = othersOf(active, partition, one);
    const behind = others.filter((device) => !confirmed.has(device)).length;
    const quorum = quorumOf(one.slots);
    return behind < quorum ? [partition] : [];
  });
}

/** By the fence: whoever answers anything under a ring has activated it, or a newer one. */
async function hasActivated(
  devices: DeviceCaller,
  active: ActiveRing,
  device: number,
): Promise<boolean> {
  const { keyspace, version } = active.ring;
  const nothing = { keyspace, ringVersion: version, partitions: [] };
  try {
    await devices.call({ active, device }, digests, nothing);
    return true;
  } catch {
    return false;
  }
}

/** Everyone who may take part in a former quorum, or in one of a ring between then and now. */
function othersOf(active: ActiveRing, partition: number, { devices }: FormerSlots): number[] {
  const present = slotsOf(active.ring, partition).map(({ device }) => device);
  return [...new Set([...devices, ...present])].filter((device) => device !== active.self);
}
