// What was written and acknowledged, by record. Every read is compared with it.
import type { Entry } from './cities.ts';

export interface Ledger {
  readonly entries: readonly Entry[];
  /** Number of the last acknowledged update; 0 is the record as loaded. */
  readonly acked: Uint32Array;
  /** Number of the last update that was sent. */
  readonly sent: Uint32Array;
  /**
   * 1 if an attempt got no answer: it may still take effect, so the record is not updated again.
   */
  readonly unsure: Uint8Array;
}

export type Verdict = 'right' | 'lost' | 'stale' | 'damaged' | 'invented';

export function newLedger(entries: readonly Entry[]): Ledger {
  return {
    entries,
    acked: new Uint32Array(entries.length),
    sent: new Uint32Array(entries.length),
    unsure: new Uint8Array(entries.length),
  };
}

/** Returns the value of a record after its n-th update: the city with one more member. */
export function valueAfter(entry: Entry, update: number): string {
  return update === 0 ? entry.value : `${entry.value.slice(0, -1)},"update":${update}}`;
}

/**
 * Judges what a read returned (null: no such record). `from`: the last update acknowledged before
 * the read began. `to`: the last update sent before it ended. The answer must lie between them.
 */
export function judgeRead(
  entry: Entry,
  value: string | null,
  { from, to }: { readonly from: number; readonly to: number },
): Verdict {
  if (value === null) return 'lost';
  const update = Number(/,"update":(\d+)\}$/.exec(value)?.[1] ?? 0);
  if (value !== valueAfter(entry, update)) return 'damaged';
  if (update < from) return 'stale';
  return update > to ? 'invented' : 'right';
}
