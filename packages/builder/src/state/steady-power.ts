// Freezes a ring while Swift raises its partition power. Servers then have objects of both powers,
// and an object moved under one power is not found under the other. Swift refuses moves too. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderState } from './builder-state.ts';

/** Returns why the ring is frozen, or null when it is not. */
export function powerIncrease({ partitioner, swift }: BuilderState): string | null {
  // Swift treats 0 as none.
  const to = swift?.nextPartPower || null;
  if (to === null || partitioner.kind !== 'md5-shift') return null;
  const { power } = partitioner;
  return power === to
    ? `Swift has increased the partition power to ${to} but has not finished that`
    : `Swift is increasing the partition power from ${power} to ${to}`;
}

export const increaseHint =
  'finish that in Swift: relink, swift-ring-builder FILE finish_increase_partition_power (or ' +
  'cancel_increase_partition_power first); then import FILE again, under a new name';

/** Throws PART_POWER_INCREASING. */
export function requireSteadyPower(state: BuilderState): void {
  const reason = powerIncrease(state);
  if (reason === null) return;
  throw new CodedError('PART_POWER_INCREASING', `${state.ring} is frozen: ${reason}`, {
    hint: increaseHint,
    details: { ring: state.ring, nextPartPower: state.swift?.nextPartPower },
  });
}
