// What a peer certainly holds of the latest records, by the sums of both: see RecentRows. Pure.
import { recentSpanMs } from '@ringwright/base/limits';
import type { RecentView } from '@ringwright/partition/file/recent-rows';
import { stampAge } from './stamp-age.ts';

interface RecentComparison {
  /** The peer was given every record up to this sequence. */
  readonly confirmed: number;
  /** Something that is old enough to be offered may be missing there. */
  readonly isSuspect: boolean;
}

interface ComparedFiles {
  /** This file's, of one moment. */
  readonly mine: RecentView;
  /** Its highest sequence at that moment. */
  readonly seq: number;
  /** The peer's sums by span, of a later moment. */
  readonly theirs: ReadonlyMap<number, string>;
  /** What the peer has confirmed before. */
  readonly since: number;
  readonly nowMs: number;
}

/**
 * Equal sums of a span: both files were given the same records, in their present lives, so each
 * row of the span is there, or something newer of its key. That holds for rows from
 * `mine.trackedFrom` on; those before have to be confirmed key by key.
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
