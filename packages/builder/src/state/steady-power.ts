// While Swift raises the partition power of a ring, nothing of it may move: servers have objects of
// both powers then, and what is moved by one is not found by the other. Swift refuses it too. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderState } from './builder-state.ts';

/** Why the ring is frozen, or null when it is not. */
export function powerIncrease({ partitioner, swift }: BuilderState): string | null {
  // Swift takes 0 as none.
  const to = swift?.nextPartPower || null;
  if (to === null || partitioner.kind !== 'md5-shift') return null;
  const { power } = partitioner;
  return power === to
    ? `Swift has raised the partition power to ${to} and has not finished that yet`
    : `Swift is raising the partition power from ${power} to ${to}`;
}

export const increaseHint =
  'in Swift finish it: relink, swift-ring-builder FILE finish_increase_partition_power (or ' +
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
