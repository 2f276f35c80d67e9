// Pins: devices that must, or must not, hold a partition, whatever its shares are. Pure.
// Pins become bounds of the partition (pinned-bounds.ts), which the flow keeps like all others.

import { CodedError } from '@ringwright/base/coded-error';
import { pinCountMax } from '@ringwright/base/limits';
import { liveIds } from '@ringwright/ring/partitioner/live-ids';
import { partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { BuilderState, Pin } from './builder-state.ts';

/** Throws PIN_INVALID with the reason. */
export function checkPin(state: BuilderState, { partition, on, off }: Pin): void {
  const partitions = partitionCountOf(state.partitioner);
  const duplicateId = on.find((id) => off.includes(id));
  const isGone = liveIds(state.partitioner)?.[partition] === 0;
  const problem = isGone
    ? `partition ${partition} was split or merged and has no keys any more`
    : !Number.isInteger(partition) || partition < 0 || partition >= partitions
      ? `partition ${partition} does not exist: there are ${partitions}`
      : on.length > Math.floor(state.replicas)
        ? `partition ${partition} cannot be on ${on.length} devices: it has ${Math.floor(state.replicas)} replicas`
        : new Set([...on, ...off]).size < on.length + off.length
          ? `d${duplicateId ?? on[0] ?? off[0]} is named twice for partition ${partition}`
          : null;
  if (problem !== null) {
    throw new CodedError('PIN_INVALID', problem, { details: { partition, on, off } });
  }
  if (on.length + off.length > 0) checkPinCount(state, partition);
}

function checkPinCount({ ring, pins = [] }: BuilderState, partition: number): void {
  const others = pins.filter((pin) => pin.partition !== partition);
  const [first] = others;
  if (first === undefined || others.length < pinCountMax) return;
  const message = `${pinCountMax} partitions are already pinned, the maximum`;
  throw new CodedError('PIN_INVALID', message, {
    hint: `ring-builder unpin ${ring} ${first.partition} removes one of the pins`,
    details: { partition, max: pinCountMax },
  });
}

/** Returns the pins, sorted by partition. `pin` replaces the earlier pin of its partition. */
export function withPin(pins: readonly Pin[], pin: Pin): Pin[] {
  const others = pins.filter(({ partition }) => partition !== pin.partition);
  const result = pin.on.length + pin.off.length === 0 ? others : [...others, pin];
  return result.sort((a, b) => a.partition - b.partition);
}

export function isPinned({ pins }: BuilderState, partition: number, device: number): boolean {
  return pins?.some((pin) => pin.partition === partition && pin.on.includes(device)) === true;
}
