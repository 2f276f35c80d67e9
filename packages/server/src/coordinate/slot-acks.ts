// Counts acknowledgements per slot, not per device (M3DB): a slot in flight counts when both its
// devices have acknowledged. Pure.
import type { Slot } from '@ringwright/ring/slots-of';

export interface SlotAcks {
  readonly acked: number;
  /** Slots that are acknowledged or may still be. */
  readonly possible: number;
}

/**
 * Tallies one write. `answered` by device id: true acknowledged, false failed, absent still open.
 */
export function tallySlots(
  slots: readonly Slot[],
  answered: { get(device: number): boolean | undefined },
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

/** Map for a few devices: two short lists cost a third of a Map. */
export class SmallMap<Value> {
  readonly #devices: number[] = [];
  readonly #values: Value[] = [];

  get size(): number {
    return this.#devices.length;
  }

  get(device: number): Value | undefined {
    const at = this.#devices.indexOf(device);
    return at === -1 ? undefined : this.#values[at];
  }

  set(device: number, value: Value): void {
    const at = this.#devices.indexOf(device);
    this.#values[at === -1 ? this.#devices.push(device) - 1 : at] = value;
  }

  entries(): [device: number, value: Value][] {
    return this.#devices.map((device, at) => [device, this.#values[at] as Value]);
  }
}
