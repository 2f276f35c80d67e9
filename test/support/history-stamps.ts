// Infers stamps that answers do not contain (the Redis protocol has none), from other operations.
// Pure.
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import type { Operation } from './history-operation.ts';

export interface Stamped extends Operation {
  /** The operation's stamp, or a lower bound of it; null if nothing is known. */
  readonly atLeast: Stamp | null;
}

/**
 * Returns the same history with the stamps of all values that some operation saw with a stamp. An
 * acknowledged write that no operation saw is at least above everything acknowledged before it on
 * its key.
 */
export function withStamps(operations: readonly Operation[]): Stamped[] {
  const seen = new Map<string, Stamp>();
  for (const { value, stamp, kind } of operations) {
    // The stamp of the write takes precedence: a read that returns another stamp is a finding.
    if (value !== null && stamp !== null && (kind === 'write' || !seen.has(value))) {
      seen.set(value, stamp);
    }
  }
  const known = operations.map((one) =>
    one.value === null || one.stamp !== null ? one : { ...one, stamp: seen.get(one.value) ?? null },
  );
  return [...Map.groupBy(known, ({ key }) => key).values()].flatMap(withBounds);
}

function withBounds(ofKey: readonly Operation[]): Stamped[] {
  const strong = ofKey.filter(
    ({ kind, outcome, level }) => kind !== 'read' && outcome === 'acked' && level !== 'one',
  );
  const ended = strong
    .filter(({ stamp }) => stamp !== null)
    .sort((a, b) => a.returnedMs - b.returnedMs);
  const bounds = new Map<Operation, Stamp>();
  let floor: Stamp | null = null;
  let next = 0;
  const unseen = strong.filter(({ stamp }) => stamp === null);
  for (const write of unseen.sort((a, b) => a.invokedMs - b.invokedMs)) {
    for (; (ended[next]?.returnedMs ?? Number.POSITIVE_INFINITY) < write.invokedMs; next += 1) {
      const stamp: Stamp | null = ended[next]?.stamp ?? null;
      if (stamp !== null && (floor === null || compareStamps(stamp, floor) > 0)) floor = stamp;
    }
    // Above that stamp, and not above any other.
    if (floor !== null) bounds.set(write, { ms: floor.ms, tie: floor.tie + 0.5 });
  }
  return ofKey.map((one) => ({ ...one, atLeast: one.stamp ?? bounds.get(one) ?? null }));
}
