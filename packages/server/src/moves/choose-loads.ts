// Which waiting loads may start now: queue, limits, pauses and priorities in, a choice out. Pure.
import {
  copiesFromServerMax,
  copiesFromZoneMax,
  copiesInMax,
} from '@ringwright/base/limits-copies';
import { countAt, type Locality } from '../copies/locality.ts';

export interface LoadCandidate {
  readonly keyspace: string;
  readonly partition: number;
  /** Assignment id of the move; null for a holder that refills. */
  readonly assignment: number | null;
  /** The first to be asked for the file; null when the slot is new or the file was lost. */
  readonly source: Locality | null;
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

/** Why a load waits: `device`, `server` and `zone` are the limits; `throttle`: requests suffer. */
export type WaitReason = 'paused' | 'cooldown' | 'device' | 'server' | 'zone' | 'throttle';

/** How far requests hold loads back. */
export interface StartRule {
  /** At most at once; null: as many as the limits say. */
  readonly loads: number | null;
  /** None begins before. */
  readonly startAtMs: number;
}

export interface LoadChoice<Candidate extends LoadCandidate> {
  readonly start: readonly Candidate[];
  readonly wait: readonly { readonly candidate: Candidate; readonly why: WaitReason }[];
  /** When the first may start that waits for a time; null when none does. */
  readonly wakeAtMs: number | null;
}

interface Conditions {
  readonly limits: LoadLimits;
  readonly rule: StartRule;
  readonly nowMs: number;
}

interface Asked extends Conditions {
  /** The sources of the loads under way. */
  readonly running: readonly (Locality | null)[];
  /** Those behind the last that may start are left out of the answer: there may be thousands. */
  readonly isShort?: boolean;
}

/**
 * `candidates`: the most urgent first. One that must wait does not keep back those behind it whose
 * source has room.
 */
export function chooseLoads<Candidate extends LoadCandidate>(
  candidates: Iterable<Candidate>,
  { running, isShort = false, ...conditions }: Asked,
): LoadChoice<Candidate> {
  const taken = [...running];
  const start: Candidate[] = [];
  const wait: { candidate: Candidate; why: WaitReason }[] = [];
  const wakes: number[] = [];
  const { rule, nowMs, limits } = conditions;
  const most = Math.min(limits.device, rule.loads ?? limits.device);
  for (const candidate of candidates) {
    // The end of one is waited for.
    if (isShort && taken.length >= most) break;
    const why = whyWait(candidate, { ...conditions, taken });
    if (why === null) {
      start.push(candidate);
      taken.push(candidate.source);
      continue;
    }
    wait.push({ candidate, why });
    if (why === 'cooldown') wakes.push(candidate.notBeforeMs);
    // Where it is their number that is too high, the end of one is waited for.
    else if (why === 'throttle' && nowMs < rule.startAtMs) wakes.push(rule.startAtMs);
  }
  return { start, wait, wakeAtMs: wakes.length === 0 ? null : wakes.reduce(earlier) };
}

const earlier = (a: number, b: number): number => Math.min(a, b);

/**
 * What the operator prefers; then refills, since their slots count for nothing until they end; then
 * files known to be small, which fit a disk that has refused larger ones.
 */
export function byUrgency(a: LoadCandidate, b: LoadCandidate): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const refills = Number(b.assignment === null) - Number(a.assignment === null);
  if (refills !== 0) return refills;
  const bytes = (a.bytes ?? 0) - (b.bytes ?? 0);
  if (bytes !== 0) return bytes;
  if (a.keyspace !== b.keyspace) return a.keyspace < b.keyspace ? -1 : 1;
  return a.partition - b.partition;
}

/**
 * All of several lists that are in order of urgency. Thousands wait, and mostly the first few are
 * looked at: so nothing is sorted.
 */
export function* inUrgency<Candidate extends LoadCandidate>(
  lists: readonly (readonly Candidate[])[],
): Iterable<Candidate> {
  const places = lists.map((list) => ({ list, at: 0 }));
  for (;;) {
    let first: (typeof places)[number] | null = null;
    for (const place of places) {
      const [mine, best] = [place.list[place.at], first?.list[first.at]];
      if (mine !== undefined && (best === undefined || byUrgency(mine, best) < 0)) first = place;
    }
    const next = first?.list[first.at];
    if (first === null || next === undefined) return;
    first.at += 1;
    yield next;
  }
}

function whyWait(
  { paused, notBeforeMs, source }: LoadCandidate,
  conditions: Conditions & { readonly taken: readonly (Locality | null)[] },
): WaitReason | null {
  const { taken, limits, rule, nowMs } = conditions;
  if (paused) return 'paused';
  if (notBeforeMs > nowMs) return 'cooldown';
  if (taken.length >= limits.device) return 'device';
  if (taken.length >= (rule.loads ?? limits.device)) return 'throttle';
  if (nowMs < rule.startAtMs) return 'throttle';
  if (countAt(taken, 'server', source) >= limits.server) return 'server';
  if (countAt(taken, 'zone', source) >= limits.zone) return 'zone';
  return null;
}
