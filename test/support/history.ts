// A history of writes and reads with unique values, and its rules: no acknowledged write is lost,
// quorum reads are monotonic, sessions see their own operations, and nothing is invented. Based on
// research on history checkers: all in O(n log n), because stamps make the versions visible.
import {
  compareStamps,
  formatStamp,
  type Stamp,
  stampTieMax,
  zeroStamp,
} from '@ringwright/base/stamp';
import type { Operation } from './history-operation.ts';
import { type Stamped, withStamps } from './history-stamps.ts';

/** Returns everything wrong with a history, as a sentence each; empty if it is right. */
export function violationsOf(history: readonly Operation[]): string[] {
  const operations = withStamps(history);
  const byKey = Map.groupBy(operations, ({ key }) => key);
  return [
    ...[...byKey.values()].flatMap((ofKey) => [
      ...backwards(ofKey, { name: 'lost ack', raises: ({ kind }) => kind !== 'read' }),
      ...backwards(ofKey, { name: 'not monotonic', raises: ({ kind }) => kind === 'read' }),
      ...outOfOrder(ofKey),
      ...inventions(ofKey),
    ]),
    ...stampsGivenTwice(operations),
    ...brokenSessions(operations, byKey),
  ];
}

export const isAcked = ({ outcome }: Operation): boolean => outcome === 'acked';

const isStrong = (one: Operation): boolean => isAcked(one) && one.level !== 'one';

/** Finds reads that return something older than what had ended before they began. */
function backwards(
  operations: readonly Stamped[],
  rule: { readonly name: string; readonly raises: (operation: Operation) => boolean },
): string[] {
  const acked = operations.filter(isStrong);
  const reads = acked.filter(({ kind }) => kind === 'read');
  const deletes = operations.filter(({ kind }) => kind === 'delete');
  return withFloors(reads, acked.filter(rule.raises)).flatMap(([read, floor]) => {
    if (floor === null || !isBelow(read, { floor, deletes })) return [];
    return [`${rule.name}: ${describe(read)} after ${describe(floor)}`];
  });
}

/** Pairs each operation with the newest of `raising` that had ended before the operation began. */
function withFloors(
  operations: readonly Stamped[],
  raising: readonly Stamped[],
): (readonly [Stamped, Stamped | null])[] {
  const ended = [...raising].sort((a, b) => a.returnedMs - b.returnedMs);
  const endOf = (index: number): number => ended[index]?.returnedMs ?? Number.POSITIVE_INFINITY;
  let floor: Stamped | null = null;
  let next = 0;
  return [...operations]
    .sort((a, b) => a.invokedMs - b.invokedMs)
    .map((operation) => {
      for (; endOf(next) < operation.invokedMs; next += 1) {
        const raised = ended[next];
        if (raised && (floor === null || compareStamps(boundOf(raised), boundOf(floor)) > 0)) {
          floor = raised;
        }
      }
      return [operation, floor] as const;
    });
}

/** Whether the read is certainly older than the floor. */
function isBelow(
  read: Stamped,
  { floor, deletes }: { readonly floor: Stamped; readonly deletes: readonly Operation[] },
): boolean {
  if (read.stamp !== null) {
    // A tombstone older than the mark that replaced it says the same.
    if (read.value === null && floor.value === null && isDropped(floor)) return false;
    if (compareStamps(read.stamp, boundOf(floor)) >= 0) return false;
    // A merged partition keeps the lower mark, and the tombstone may be from the other parent.
    if (!isDropped(read)) return true;
  }
  // A value with an unknown stamp may be the newest. After a delete, nothing may be found.
  if (read.value !== null || floor.value === null) return false;
  return !deletes.some(({ outcome, stamp, invokedMs }) => {
    if (outcome === 'rejected' || invokedMs > read.returnedMs) return false;
    return stamp === null || compareStamps(stamp, boundOf(floor)) >= 0;
  });
}

/** Whether the stamp represents all tombstones dropped up to it. */
const isDropped = ({ stamp }: Operation): boolean => stamp?.tie === stampTieMax;

/** Finds writes acknowledged below earlier acknowledged ones: they should be superseded. */
function outOfOrder(operations: readonly Stamped[]): string[] {
  const writes = operations.filter((one) => one.kind !== 'read' && isStrong(one));
  return withFloors(writes, writes).flatMap(([write, floor]) =>
    floor !== null && write.stamp !== null && compareStamps(write.stamp, boundOf(floor)) <= 0
      ? [`acked below: ${describe(write)} after ${describe(floor)}`]
      : [],
  );
}

/** Finds reads of values that nobody can have written by then, and values with two stamps. */
function inventions(operations: readonly Operation[]): string[] {
  const writes = operations.filter(({ kind }) => kind === 'write');
  const byValue = new Map(writes.map((write) => [write.value, write]));
  const deletes = operations.filter(({ kind }) => kind === 'delete');
  const stamps = new Map(writes.map(({ value, stamp }) => [value, stamp]));
  return operations.flatMap((read) => {
    if (read.kind !== 'read' || read.outcome !== 'acked') return [];
    if (read.value === null) {
      return isDeleted(read, deletes) ? [] : [wrong(read, 'no such delete')];
    }
    const write = byValue.get(read.value);
    if (write === undefined) return [wrong(read, 'never written')];
    if (write.outcome === 'rejected') return [wrong(read, 'its write was rejected')];
    if (write.invokedMs > read.returnedMs) return [wrong(read, 'written later')];
    if (read.stamp === null) return [];
    const known = stamps.get(read.value) ?? read.stamp;
    stamps.set(read.value, known);
    return compareStamps(known, read.stamp) === 0
      ? []
      : [wrong(read, `stamp is ${formatStamp(known)}`)];
  });
}

function isDeleted(read: Operation, deletes: readonly Operation[]): boolean {
  // The read found nothing, or only dropped tombstones: the floors decide whether it may.
  if (read.stamp === null || isDropped(read)) return true;
  return deletes.some(({ outcome, stamp, invokedMs }) => {
    if (outcome === 'rejected' || invokedMs > read.returnedMs) return false;
    return stamp === null || compareStamps(stamp, stampOf(read)) === 0;
  });
}

/** Finds writes that share a stamp, across all keys and coordinators. */
function stampsGivenTwice(operations: readonly Operation[]): string[] {
  const given = new Map<string, Operation>();
  return operations.flatMap((write) => {
    if (write.kind === 'read' || write.stamp === null) return [];
    const text = formatStamp(write.stamp);
    const first = given.get(text);
    given.set(text, write);
    return first === undefined ? [] : [`stamp twice: ${describe(write)} and ${describe(first)}`];
  });
}

/** Finds sessions that miss what they wrote or read, or whose writes lose to their own past. */
function brokenSessions(
  operations: readonly Stamped[],
  byKey: ReadonlyMap<string, readonly Stamped[]>,
): string[] {
  const sessions = Map.groupBy(operations, ({ session }) => session ?? null);
  sessions.delete(null);
  return [...sessions.values()].flatMap((unsorted) => {
    const session = unsorted.sort((a, b) => a.invokedMs - b.invokedMs);
    const seen = new Map<string, Stamped>();
    let highest: Stamp = zeroStamp;
    return session.flatMap((operation) => {
      const { kind, key, outcome, stamp, newer = null } = operation;
      if (outcome === 'superseded' && newer !== null && compareStamps(newer, highest) <= 0) {
        return [`session: ${describe(operation)}, though it had seen ${formatStamp(highest)}`];
      }
      if (outcome !== 'acked' || stamp === null) return [];
      const before = seen.get(key);
      const deletes = (byKey.get(key) ?? []).filter((one) => one.kind === 'delete');
      if (before !== undefined && isBelow(operation, { floor: before, deletes })) {
        return [`session: ${describe(operation)} after its own ${describe(before)}`];
      }
      if (compareStamps(stamp, highest) > 0 && kind !== 'read') highest = stamp;
      seen.set(key, operation);
      return [];
    });
  });
}

const boundOf = ({ atLeast }: Stamped): Stamp => atLeast ?? zeroStamp;

const stampOf = ({ stamp }: Operation): Stamp => stamp ?? zeroStamp;

const wrong = (read: Operation, why: string): string => `invented: ${describe(read)}: ${why}`;

export function describe(operation: Operation): string {
  const { kind, key, value, stamp, port, invokedMs, returnedMs, reason } = operation;
  const when = `${invokedMs.toFixed(1)}–${returnedMs.toFixed(1)} ms`;
  const version = stamp === null ? 'no stamp' : formatStamp(stamp);
  const what = `'${value?.slice(0, 24) ?? 'nothing'}' at ${version}`;
  return `${kind} of ${key} gave ${reason ?? what} (port ${port}, ${when})`;
}
