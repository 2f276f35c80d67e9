// A history of writes and reads with unique values, and what must hold of it: no acknowledged
// write is lost, quorum reads are monotonic, nothing is invented. After research on history
// checkers: all in O(n log n), because stamps make the versions visible.
import { compareStamps, formatStamp, type Stamp, zeroStamp } from '@ringwright/base/stamp';

export interface Operation {
  readonly kind: 'write' | 'delete' | 'read';
  readonly key: string;
  /** Written or read; null for a delete, and for a read that found nothing. */
  readonly value: string | null;
  readonly invokedMs: number;
  readonly returnedMs: number;
  /** rejected: certainly nowhere. unknown: may appear later, once. superseded: stored, but older. */
  readonly outcome: 'acked' | 'superseded' | 'rejected' | 'unknown';
  /** Null where none was told. */
  readonly stamp: Stamp | null;
  readonly port: number;
  /** Code of the refusal, or what broke the connection. */
  readonly reason?: string;
}

/** Everything wrong with a history of quorum operations, as sentences; empty when it is right. */
export function violationsOf(operations: readonly Operation[]): string[] {
  const byKey = Map.groupBy(operations, ({ key }) => key);
  return [...byKey.values()].flatMap((ofKey) => [
    ...backwards(ofKey, { name: 'lost ack', raises: ({ kind }) => kind !== 'read' }),
    ...backwards(ofKey, { name: 'not monotonic', raises: ({ kind }) => kind === 'read' }),
    ...inventions(ofKey),
  ]);
}

/** Reads that return something older than what had ended before they began. */
function backwards(
  operations: readonly Operation[],
  rule: { readonly name: string; readonly raises: (operation: Operation) => boolean },
): string[] {
  const acked = operations.filter(({ outcome }) => outcome === 'acked');
  const ended = acked.filter(rule.raises).sort((a, b) => a.returnedMs - b.returnedMs);
  const reads = acked
    .filter(({ kind }) => kind === 'read')
    .sort((a, b) => a.invokedMs - b.invokedMs);
  const found: string[] = [];
  let floor: Operation | null = null;
  let next = 0;
  for (const read of reads) {
    for (; (ended[next]?.returnedMs ?? Number.POSITIVE_INFINITY) < read.invokedMs; next += 1) {
      const raised: Operation | undefined = ended[next];
      if (raised && (floor === null || compareStamps(stampOf(raised), stampOf(floor)) > 0)) {
        floor = raised;
      }
    }
    if (floor !== null && compareStamps(stampOf(read), stampOf(floor)) < 0) {
      found.push(`${rule.name}: ${describe(read)} after ${describe(floor)}`);
    }
  }
  return found;
}

/** Reads of a value nobody can have written by then, and values with two stamps. */
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
    const known = stamps.get(read.value) ?? read.stamp;
    stamps.set(read.value, known);
    return known && compareStamps(known, stampOf(read)) === 0
      ? []
      : [wrong(read, `stamp is ${known && formatStamp(known)}`)];
  });
}

function isDeleted(read: Operation, deletes: readonly Operation[]): boolean {
  if (read.stamp === null) return true; // found nothing at all: the floor says whether it may
  return deletes.some(({ outcome, stamp, invokedMs }) => {
    if (outcome === 'rejected' || invokedMs > read.returnedMs) return false;
    return stamp === null || compareStamps(stamp, stampOf(read)) === 0;
  });
}

const stampOf = ({ stamp }: Operation): Stamp => stamp ?? zeroStamp;

const wrong = (read: Operation, why: string): string => `invented: ${describe(read)}: ${why}`;

export function describe(operation: Operation): string {
  const { kind, key, value, stamp, port, invokedMs, returnedMs, reason } = operation;
  const when = `${invokedMs.toFixed(1)}–${returnedMs.toFixed(1)} ms`;
  const version = stamp === null ? 'no stamp' : formatStamp(stamp);
  const what = `'${value?.slice(0, 24) ?? 'nothing'}' at ${version}`;
  return `${kind} of ${key} gave ${reason ?? what} (port ${port}, ${when})`;
}
