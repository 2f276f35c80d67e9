// Counts acknowledgements per slot, not per device (M3DB): a slot in flight counts when both its
// devices acked. Pure.
import type { Slot } from '@ringwright/ring/slots-of';

export interface SlotAcks {
  readonly needed: number;
  readonly acked: number;
  /** Slots that may still come to count. */
  readonly possible: number;
}

/** Tally of one write. `answered` is by device id: true acked, false failed, absent still open. */
export function tallySlots(
  slots: readonly Slot[],
  answered: ReadonlyMap<number, boolean>,
  needed: number,
): SlotAcks {
  let acked = 0;
  let possible = 0;
  for (const { device, joiner } of slots) {
    const first = answered.get(device);
    const second = joiner === null ? true : answered.get(joiner);
    if (first === true && second === true) acked += 1;
    if (first !== false && second !== false) possible += 1;
  }
  return { needed, acked, possible };
}

/** Devices of the slots, each once: where a write goes. */
export function slotDevices(slots: readonly Slot[]): number[] {
  const devices: number[] = [];
  // A handful: a set would cost more than it saves.
  for (const { device, joiner } of slots) {
    if (!devices.includes(device)) devices.push(device);
    if (joiner !== null && !devices.includes(joiner)) devices.push(joiner);
  }
  return devices;
}
