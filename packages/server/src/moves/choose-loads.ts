// Decides which waiting loads may start now, from the queue, limits, pauses and priorities. Pure.
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
  /** Location of the device that is asked first; null if the slot is new or the file was lost. */
  readonly source: Locality | null;
  /** The same for loads that ask the same device first; all of them have the same `source`. */
  readonly sourceName: string;
  /** Bytes of the file, if an attempt has learned them. */
  readonly bytes: number | null;
  /** Higher goes first; 0 unless an operator set it. */
  readonly priority: number;
  readonly paused: boolean;
  /** Not to be started before this time, because an attempt failed or the source was busy. */
  readonly notBeforeMs: number;
}

/** Limits of loads at once on this device: in all, and by the location of their sources. */
interface LoadLimits {
  readonly device: number;
  readonly server: number;
  readonly zone: number;
}

export const loadLimits: LoadLimits = {
  device: copiesInMax,
  server: copiesFromServerMax,
  zone: copiesFromZoneMax,
};

/**
 * Why a load waits. `device`, `server` and `zone` are the limits; `throttle`: requests suffer;
 * `busy`: the source has no place for another copy.
 */
export type WaitReason = 'paused' | 'cooldown' | 'busy' | 'device' | 'server' | 'zone' | 'throttle';

/** A source that had no place for another copy. */
export interface BusySource {
  /** Maximum of copies from it until `untilMs`: as soon as one ends, the next may start. */
  readonly places: number;
  /** From then on, as many as before are requested from it. */
  readonly untilMs: number;
}

/** How much the throttle holds loads back for the sake of requests. */
export interface StartRule {
  /** Maximum of loads at once; null: as many as the limits allow. */
  readonly loads: number | null;
  /** No load starts before this time. */
  readonly startAtMs: number;
}

interface LoadChoice<Candidate extends LoadCandidate> {
  readonly start: readonly Candidate[];
  /** When the first load may start that waits for a time; null if none does. */
  readonly wakeAtMs: number | null;
}

type Source = Pick<LoadCandidate, 'source' | 'sourceName'>;

interface Conditions {
  readonly limits: LoadLimits;
  readonly rule: StartRule;
  /** By the name of the source. */
  readonly busy: ReadonlyMap<string, BusySource>;
  readonly nowMs: number;
}

interface LoadConditions extends Conditions {
  /** The loads under way. */
  readonly running: readonly Source[];
}

/**
 * `lists`: one per source, sorted by urgency. A load that must wait does not hold back loads whose
 * source has room. Loads that wait for the same as another one are not looked at: there may be
 * tens of thousands.
 */
export function chooseLoads<Candidate extends LoadCandidate>(
  lists: Iterable<readonly Candidate[]>,
  { running: before, ...conditions }: LoadConditions,
): LoadChoice<Candidate> {
  const running: Source[] = [...before];
  const start: Candidate[] = [];
  const wakes: number[] = [];
  const { rule, nowMs, busy } = conditions;
  const queues = [...lists].map((list) => ({ list, nextIndex: 0 }));
  for (let next = mostUrgent(queues); next !== null; next = mostUrgent(queues)) {
    const { queue, candidate } = next;
    queue.nextIndex += 1;
    const why = whyWait(candidate, { ...conditions, running });
    if (why === null) {
      start.push(candidate);
      running.push(candidate);
      continue;
    }
    if (why === 'cooldown') wakes.push(candidate.notBeforeMs);
    else if (why === 'busy') wakes.push(busy.get(candidate.sourceName)?.untilMs ?? nowMs);
    // If too many loads run, the end of one is awaited instead of a time.
    else if (why === 'throttle' && nowMs < rule.startAtMs) wakes.push(rule.startAtMs);
    if (why === 'paused' || why === 'cooldown') continue;
    if (why === 'device' || why === 'throttle') break;
    // All loads of one source wait for the same.
    queue.nextIndex = queue.list.length;
  }
  return { start, wakeAtMs: wakes.length === 0 ? null : wakes.reduce(earlier) };
}

const earlier = (a: number, b: number): number => Math.min(a, b);

/**
 * Sorts by the operator's priority. Then refills, since their slots count for nothing until they
 * end. Then files known to be small, which may fit on a disk that was too full for larger ones.
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

interface Queue<Candidate> {
  readonly list: readonly Candidate[];
  /** Index of the next candidate to look at. */
  nextIndex: number;
}

/** Returns the most urgent of the next candidates of all queues; null when all have ended. */
function mostUrgent<Candidate extends LoadCandidate>(
  queues: readonly Queue<Candidate>[],
): { readonly queue: Queue<Candidate>; readonly candidate: Candidate } | null {
  let first: ReturnType<typeof mostUrgent<Candidate>> = null;
  for (const queue of queues) {
    const candidate = queue.list[queue.nextIndex];
    if (candidate === undefined) continue;
    if (first === null || byUrgency(candidate, first.candidate) < 0) first = { queue, candidate };
  }
  return first;
}

/** Returns why a load has to wait beside those that run; null if it may start. */
export function whyWait(
  { paused, notBeforeMs, source, sourceName }: LoadCandidate,
  { running, limits, rule, busy, nowMs }: LoadConditions,
): WaitReason | null {
  if (paused) return 'paused';
  if (notBeforeMs > nowMs) return 'cooldown';
  if (running.length >= limits.device) return 'device';
  if (running.length >= (rule.loads ?? limits.device)) return 'throttle';
  if (nowMs < rule.startAtMs) return 'throttle';
  const busySource = busy.get(sourceName);
  if (busySource !== undefined && nowMs < busySource.untilMs) {
    const fromSource = running.filter((one) => one.sourceName === sourceName);
    if (fromSource.length >= busySource.places) return 'busy';
  }
  const localities = running.map((one) => one.source);
  if (countAt(localities, 'server', source) >= limits.server) return 'server';
  if (countAt(localities, 'zone', source) >= limits.zone) return 'zone';
  return null;
}
