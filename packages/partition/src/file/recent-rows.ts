// Sums of the rows that a partition received in the last seconds, grouped by the second of their
// stamps. Two holders with equal sums received the same rows, and need not send each other every
// key. Pure.
import { recentSpanMs, recentSpansMax } from '@ringwright/base/limits';
import { type Digest, emptyDigest, formatDigest, toggleRow } from './digest.ts';
import type { HashedRecord } from './memtable.ts';
import type { WriteOutcome } from './record.ts';

/** All records with stamps in one span of time, including those that were too old to be stored. */
interface RecentSpan {
  /** The span begins at stamp `id * recentSpanMs`. */
  readonly id: number;
  /**
   * XOR of the row hashes, 16 hex digits. A record that arrives twice may cancel itself out, but a
   * key's present record is counted once: a repeat of the same stamp is not counted.
   */
  readonly sum: string;
  /** Sequences of the first and the last stored row; null when none was stored. */
  readonly seqs: readonly [first: number, last: number] | null;
}

export interface RecentView {
  /** Every row with this sequence or a higher one is in one of the spans. */
  readonly trackedFrom: number;
  readonly spans: readonly RecentSpan[];
}

interface Span {
  sum: Digest;
  first: number;
  last: number;
}

/** Exists as long as the file is open; earlier rows count as unknown. */
export class RecentRows {
  #trackedFrom: number;
  readonly #spans = new Map<number, Span>();

  /** `seq`: the highest sequence of the file so far. */
  constructor(seq: number) {
    this.#trackedFrom = seq + 1;
  }

  /** Counts a row that was received; `seq` is its sequence if it was stored. */
  note({ ms, hash, isPreparedBallot }: HashedRecord, { kind }: WriteOutcome, seq: number): void {
    const isStored = kind === 'applied';
    // A repeat was counted when it first arrived, and a row kept out by a promise may arrive again.
    if (isPreparedBallot || (!isStored && kind !== 'stale')) return;
    const span = this.#spanOf(Math.floor(ms / recentSpanMs));
    if (span === null) {
      if (isStored) this.#trackedFrom = seq + 1;
      return;
    }
    span.sum = toggleRow(span.sum, hash);
    if (!isStored) return;
    if (span.last === 0) span.first = seq;
    span.last = seq;
  }

  /** Null for a span older than those that are kept. */
  #spanOf(id: number): Span | null {
    const known = this.#spans.get(id);
    if (known !== undefined) return known;
    if (this.#spans.size === recentSpansMax) {
      const oldest = Math.min(...this.#spans.keys());
      if (id < oldest) return null;
      this.#trackedFrom = Math.max(this.#trackedFrom, (this.#spans.get(oldest)?.last ?? 0) + 1);
      this.#spans.delete(oldest);
    }
    const span = { sum: emptyDigest, first: 0, last: 0 };
    this.#spans.set(id, span);
    return span;
  }

  view(): RecentView {
    const spans = [...this.#spans].map(([id, { sum, first, last }]): RecentSpan => {
      return { id, sum: formatDigest(sum), seqs: last === 0 ? null : [first, last] };
    });
    return { trackedFrom: this.#trackedFrom, spans };
  }
}
