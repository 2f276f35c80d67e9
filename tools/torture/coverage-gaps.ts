// Runs that proved nothing: too few answers, or too few faults. Pure.

import { isAcked } from '../../test/support/history.ts';
import type { Operation } from '../../test/support/history-operation.ts';
import type { Nemesis } from './nemesis.ts';
import type { FaultWindow } from './stage.ts';

/** Minimum share of all operations. Kills of all servers and network partitions lower it. */
const ACKED_SHARE_MIN = 0.3;
const ACKED_IN_FAULTS_MIN = 50;
/** A run of at least this length must have had every planned fault. */
const LONG_SECONDS = 600;

/** Returns sentences that say why a clean run proves little. */
export function coverageGaps(
  operations: readonly Operation[],
  faults: readonly FaultWindow[],
): string[] {
  const acked = operations.filter(isAcked);
  const changes = acked.filter(({ kind }) => kind !== 'read');
  const changesInFaults = changes.filter(meetsAny(faults));
  const share = acked.length / operations.length;
  return [
    ...(faults.length === 0 ? ['not covered: no fault happened'] : []),
    ...(share >= ACKED_SHARE_MIN ? [] : [`not covered: ${percent(share)} were acknowledged`]),
    ...(changesInFaults.length >= ACKED_IN_FAULTS_MIN
      ? []
      : [`not covered: ${changesInFaults.length} writes were acknowledged during faults`]),
  ];
}

/** Whether an operation was in progress during one of the faults. */
export function meetsAny(faults: readonly FaultWindow[]): (operation: Operation) => boolean {
  return ({ invokedMs, returnedMs }) =>
    faults.some(({ fromMs, toMs }) => invokedMs < toMs && returnedMs > fromMs);
}

function percent(share: number): string {
  return `only ${Math.round(100 * share)} % of the operations`;
}

/** Returns the planned faults that a long run did not have, as one sentence. */
export function neverFired(
  shape: { readonly seconds: number; readonly nemeses: readonly Pick<Nemesis, 'planned'>[] },
  fired: readonly string[],
): string[] {
  if (shape.seconds < LONG_SECONDS) return [];
  const firedNames = new Set(fired);
  const planned = shape.nemeses.flatMap((nemesis) => nemesis.planned ?? []);
  const unfired = planned.filter((name) => !firedNames.has(name));
  return unfired.length === 0 ? [] : [`not covered: never happened: ${unfired.join(', ')}`];
}
