// Which of the waiting loads may start now: queue, limits, pauses and priorities in, a choice out.
// Pure.
import {
  copiesFromServerMax,
  copiesFromZoneMax,
  copiesInMax,
} from '@ringwright/base/limits-copies';
import { countAt, type Place } from './place.ts';

export interface LoadCandidate {
  readonly keyspace: string;
  readonly partition: number;
  /** Assignment id of the move; null for a holder that refills. */
  readonly assignment: number | null;
  /** The first to be asked for the file; null when the slot is new or the file was lost. */
  readonly source: Place | null;
  /** Bytes of the file, if an attempt has learned them. */
  readonly bytes: number | null;
  /** Higher goes first; 0 unless somebody said otherwise. */
  readonly priority: number;
  readonly paused: boolean;
  /** An attempt failed or the source was busy: not before this time. */
  readonly notBeforeMs: number;
}

/** Loads that may run at once on this device: in all, and by the place their files come from. */
export interface LoadLimits {
  readonly device: number;
  readonly server: number;
  readonly zone: number;
}

export const loadLimits: LoadLimits = {
  device: copiesInMax,
  server: copiesFromServerMax,
  zone: copiesFromZoneMax,
};

/** Why a load waits: `device`, `server` and `zone` are the limits. */
export type WaitReason = 'paused' | 'resting' | 'device' | 'server' | 'zone';

export interface LoadChoice<Candidate extends LoadCandidate> {
  readonly start: readonly Candidate[];
  readonly wait: readonly { readonly candidate: Candidate; readonly why: WaitReason }[];
  /** When the first resting one may start; null when none rests. */
  readonly wakeAtMs: number | null;
}

/**
 * In order of urgency; one that must wait does not keep back those behind it whose source has room.
 * `running`: the sources of the loads under way.
 */
export function chooseLoads<Candidate extends LoadCandidate>(
  candidates: readonly Candidate[],
  {
    running,
    limits,
    nowMs,
  }: {
    readonly running: readonly (Place | null)[];
    readonly limits: LoadLimits;
    readonly nowMs: number;
  },
): LoadChoice<Candidate> {
  const taken = [...running];
  const start: Candidate[] = [];
  const wait: { candidate: Candidate; why: WaitReason }[] = [];
  for (const candidate of candidates.toSorted(byUrgency)) {
    const why = whyWait(candidate, { taken, limits, nowMs });
    if (why === null) {
      start.push(candidate);
      taken.push(candidate.source);
    } else wait.push({ candidate, why });
  }
  const resting = wait.flatMap(({ candidate, why }) =>
    why === 'resting' ? [candidate.notBeforeMs] : [],
  );
  return { start, wait, wakeAtMs: resting.length === 0 ? null : Math.min(...resting) };
}

/**
 * What the operator prefers; then refills, since their slots count for nothing until they end; then
 * files known to be small, which fit a disk that has refused larger ones.
 */
function byUrgency(a: LoadCandidate, b: LoadCandidate): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const refills = Number(b.assignment === null) - Number(a.assignment === null);
  if (refills !== 0) return refills;
  const bytes = (a.bytes ?? 0) - (b.bytes ?? 0);
  if (bytes !== 0) return bytes;
  if (a.keyspace !== b.keyspace) return a.keyspace < b.keyspace ? -1 : 1;
  return a.partition - b.partition;
}

function whyWait(
  { paused, notBeforeMs, source }: LoadCandidate,
  {
    taken,
    limits,
    nowMs,
  }: {
    readonly taken: readonly (Place | null)[];
    readonly limits: LoadLimits;
    readonly nowMs: number;
  },
): WaitReason | null {
  if (paused) return 'paused';
  if (notBeforeMs > nowMs) return 'resting';
  if (taken.length >= limits.device) return 'device';
  if (countAt(taken, 'server', source) >= limits.server) return 'server';
  if (countAt(taken, 'zone', source) >= limits.zone) return 'zone';
  return null;
}
