// Decides what a peer certainly holds of the latest records, from the recent sums of both files:
// see RecentRows. Pure.
import { recentSpanMs } from '@ringwright/base/limits';
import type { RecentView } from '@ringwright/partition/file/recent-rows';
import { stampAge } from './stamp-age.ts';

interface RecentComparison {
  /** The peer was given every record up to this sequence. */
  readonly confirmed: number;
  /** Whether the peer may lack something that is old enough to be offered. */
  readonly isSuspect: boolean;
}

interface ComparedFiles {
  /** The recent sums of the file here, all of one moment. */
  readonly mine: RecentView;
  /** The highest sequence of the file here at that moment. */
  readonly seq: number;
  /** The peer's sums by span, of a later moment. */
  readonly theirs: ReadonlyMap<number, string>;
  /** The sequence that the peer has confirmed before. */
  readonly since: number;
  readonly nowMs: number;
}

/**
 * Equal sums of a span mean that both files were given the same records in their present lives. So
 * the peer has each row of the span, or something newer of its key. This holds for rows from
 * `mine.trackedFrom` on; earlier rows have to be confirmed key by key.
 */
export function compareRecent({
  mine,
  seq,
  theirs,
  since,
  nowMs,
}: ComparedFiles): RecentComparison {
  if (since < mine.trackedFrom - 1) return { confirmed: since, isSuspect: true };
  let confirmed = seq;
  let isSuspect = false;
  for (const { id, sum, seqs } of mine.spans) {
    if (seqs === null || seqs[1] <= since || theirs.get(id) === sum) continue;
    confirmed = Math.min(confirmed, seqs[0] - 1);
    const ends = [id * recentSpanMs, (id + 1) * recentSpanMs - 1];
    if (ends.every((ms) => stampAge(ms, nowMs) === 'settled')) isSuspect = true;
  }
  return { confirmed: Math.max(since, confirmed), isSuspect };
}
