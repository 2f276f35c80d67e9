// Counts acknowledgements per slot, not per device (M3DB): a slot in flight counts when both its
// devices have acknowledged. Pure.
import { quorumOf } from '@ringwright/ring/quorum';
import type { Slot } from '@ringwright/ring/slots-of';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';

export interface SlotAcks {
  readonly acked: number;
  /** Slots that are acknowledged or may still be. */
  readonly possible: number;
}

/** How many slots of a partition must have acknowledged. */
export function slotsNeeded(consistency: ConsistencyLevel, slots: number): number {
  if (consistency === 'one') return 1;
  return consistency === 'all' ? slots : quorumOf(slots);
}

/**
 * Tallies one write. `answered` by device id: true acknowledged, false failed, absent still open.
 */
export function tallySlots(
  slots: readonly Slot[],
  answered: ReadonlyMap<number, boolean>,
): SlotAcks {
  let acked = 0;
  let possible = 0;
  for (const { device, joiner } of slots) {
    const first = answered.get(device);
    const second = joiner === null ? true : answered.get(joiner);
    if (first === true && second === true) acked += 1;
    if (first !== false && second !== false) possible += 1;
  }
  return { acked, possible };
}

/** Returns the devices of the slots, each once: where a write goes. */
export function slotDevices(slots: readonly Slot[]): number[] {
  const devices: number[] = [];
  // They are few, so a set would cost more than it saves.
  for (const { device, joiner } of slots) {
    if (!devices.includes(device)) devices.push(device);
    if (joiner !== null && !devices.includes(joiner)) devices.push(joiner);
  }
  return devices;
}
