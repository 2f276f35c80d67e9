// Runs that proved nothing: too little was answered, or too little happened. Pure.
import { isAcked, type Operation } from '../../test/support/history.ts';
import type { Nemesis } from './nemesis.ts';
import type { FaultWindow } from './stage.ts';

/** Of all operations. Kills of all servers and cuts through the middle take their share. */
const ACKED_SHARE_MIN = 0.3;
const ACKED_IN_FAULTS_MIN = 50;
/** Of a run in which every planned fault must have happened. */
const LONG_SECONDS = 600;

/** What keeps a clean run from meaning anything, as sentences. */
export function coverageGaps(
  operations: readonly Operation[],
  faults: readonly FaultWindow[],
): string[] {
  const acked = operations.filter(isAcked);
  const changes = acked.filter(({ kind }) => kind !== 'read');
  const suffered = changes.filter(meetsAny(faults));
  const share = acked.length / operations.length;
  return [
    ...(faults.length === 0 ? ['not covered: no fault happened'] : []),
    ...(share >= ACKED_SHARE_MIN ? [] : [`not covered: ${percent(share)} were acknowledged`]),
    ...(suffered.length >= ACKED_IN_FAULTS_MIN
      ? []
      : [`not covered: ${suffered.length} writes were acknowledged during faults`]),
  ];
}

/** Whether an operation was under way while one of the faults was. */
export function meetsAny(faults: readonly FaultWindow[]): (operation: Operation) => boolean {
  return ({ invokedMs, returnedMs }) =>
    faults.some(({ fromMs, toMs }) => invokedMs < toMs && returnedMs > fromMs);
}

function percent(share: number): string {
  return `only ${Math.round(100 * share)} % of the operations`;
}

/** Of a long run: planned faults that did not happen, as one sentence. */
export function neverFired(
  shape: { readonly seconds: number; readonly nemeses: readonly Pick<Nemesis, 'planned'>[] },
  fired: readonly string[],
): string[] {
  if (shape.seconds < LONG_SECONDS) return [];
  const happened = new Set(fired);
  const planned = shape.nemeses.flatMap((nemesis) => nemesis.planned ?? []);
  const never = planned.filter((name) => !happened.has(name));
  return never.length === 0 ? [] : [`not covered: never happened: ${never.join(', ')}`];
}
