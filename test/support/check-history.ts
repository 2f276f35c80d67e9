// Checks a history of reads and writes of single keys against what a quorum promises. Pure.
import { compareStamps, formatStamp, type Stamp } from '@ringwright/base/stamp';

export interface HistoryWrite {
  readonly kind: 'write';
  readonly key: string;
  readonly value: string;
  readonly invoked: number;
  /** Infinite while it has not returned. */
  returned: number;
  outcome: 'acked' | 'superseded' | 'rejected' | 'unknown';
  stamp: Stamp | null;
}

export interface HistoryRead {
  readonly kind: 'read';
  readonly key: string;
  readonly invoked: number;
  readonly returned: number;
  /** Null: no record. */
  readonly found: (Stamp & { readonly value: string | null }) | null;
}

export type HistoryEntry = HistoryWrite | HistoryRead;

/**
 * Every breach as a sentence: A no acknowledged write is missing in a later quorum read; B quorum
 * reads never go back; C nothing is read that nobody wrote, that was rejected, or from the future.
 * Times are of one counter that rises with every event, so no two are equal.
 */
export function breachesOf(history: readonly HistoryEntry[]): string[] {
  const reads = history.filter((entry) => entry.kind === 'read');
  const writes = history.filter((entry) => entry.kind === 'write');
  const byValue = new Map(writes.map((write) => [write.value, write]));
  return reads.flatMap((read) => [
    ...missing(read, writes),
    ...backwards(read, reads),
    ...invented(read, byValue),
  ]);
}

function missing(read: HistoryRead, writes: readonly HistoryWrite[]): string[] {
  return writes.flatMap((write) => {
    const before = write.outcome === 'acked' && write.returned < read.invoked;
    if (!before || write.key !== read.key || write.stamp === null) return [];
    if (read.found !== null && compareStamps(read.found, write.stamp) >= 0) return [];
    return [
      `A: read at ${read.invoked} found ${shown(read)}, ${write.value} was acknowledged before`,
    ];
  });
}

function backwards(read: HistoryRead, reads: readonly HistoryRead[]): string[] {
  return reads.flatMap((earlier) => {
    if (earlier.key !== read.key || earlier.returned >= read.invoked) return [];
    if (earlier.found === null) return [];
    if (read.found !== null && compareStamps(read.found, earlier.found) >= 0) return [];
    return [`B: read at ${read.invoked} found ${shown(read)}, an earlier one ${shown(earlier)}`];
  });
}

function invented(read: HistoryRead, byValue: ReadonlyMap<string, HistoryWrite>): string[] {
  if (read.found === null || read.found.value === null) return [];
  const write = byValue.get(read.found.value);
  if (write === undefined) return [`C: read at ${read.invoked} found ${shown(read)} of nobody`];
  const bad = write.outcome === 'rejected' || write.invoked > read.returned;
  const other = write.stamp !== null && compareStamps(write.stamp, read.found) !== 0;
  if (!bad && !other && write.key === read.key) return [];
  return [`C: read at ${read.invoked} found ${shown(read)}, which was ${write.outcome}`];
}

function shown({ found }: HistoryRead): string {
  return found === null ? 'nothing' : `${found.value} of ${formatStamp(found)}`;
}
