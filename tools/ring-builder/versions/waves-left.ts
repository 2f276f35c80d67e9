// Finds what a change has left to do after its last version: later waves, the time when the next
// may begin, and moves that no version has noted. Pure.

import { must } from '@ringwright/base/assert';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { moveCount, type NextWave, nextWave } from '@ringwright/builder/plan/later-waves';
import type { LaterWaves, Plan } from '@ringwright/builder/plan/plan';
import { changeCommand } from '@ringwright/builder/state/composition';
import { laterWavesOf } from '@ringwright/repository/folder/later-section';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Lines } from '../cli/command.ts';
import { hoursOf, MS_PER_HOUR } from '../cli/hours.ts';
import { isForSwift } from './last-push.ts';

const MINUTES_PER_HOUR = 60;

export interface WavesLeft {
  /** The waves that a rollout continues with. */
  readonly waves: LaterWaves;
  /** Moves of these waves, and moves that were not noted. */
  readonly movesLeft: number;
  /**
   * Moves beyond what a version can note, or left by a program that noted none. A commit plans
   * them.
   */
  readonly movesNotNoted: number;
  /** What may move now, and what is left after that. */
  readonly next: NextWave;
  /** ISO 8601, UTC, to the minute; null unless all noted moves rest until then. */
  readonly restsUntil: string | null;
  /** The command that shows, or makes, a version that continues with moves not noted. */
  readonly change: string;
  /** The ring is for Swift, which has no rollout: the next commit plans everything left. */
  readonly forSwift: boolean;
}

/** Computes this from the head and its log. */
export function wavesLeft(
  head: StoredVersion,
  entries: readonly LogEntry[],
  nowMs: number,
): WavesLeft {
  const waves = laterWavesOf(head.extraSections);
  const noted = moveCount(waves);
  const movesNotNoted = notNoted(entries, noted);
  const movesLeft = noted + movesNotNoted;
  const change = changeCommand(head.state ?? { ring: head.ring.keyspace });
  const left = { waves, movesLeft, movesNotNoted, change, forSwift: isForSwift(entries) };
  if (noted === 0) return { ...left, next: { moves: [], later: waves }, restsUntil: null };
  const readyAt = waveAt(head, entries, waves);
  const next = readyAt(nowMs / MS_PER_HOUR);
  const isResting = next.moves.length === 0 && head.ring.moves.length === 0;
  const minutes = isResting
    ? minutesOfRest(head, (hours) => readyAt(nowMs / MS_PER_HOUR + hours))
    : 0;
  const until = new Date(nowMs + (minutes / MINUTES_PER_HOUR) * MS_PER_HOUR).toISOString();
  return { ...left, next, restsUntil: isResting ? until : null };
}

/** min_part_hours does not delay the waves of a revert. */
function waveAt(
  { ring, state }: StoredVersion,
  entries: readonly LogEntry[],
  waves: LaterWaves,
): (nowHours: number) => NextWave {
  const commit = entries.findLast(({ kind }) => kind === 'commit');
  const reverts = commit?.details['revert'] !== undefined;
  const versionHours = hoursOf(entries);
  const builder = must(state, `version ${ring.version} carries the builder`);
  return (nowHours) => {
    const times = reverts ? {} : { versionHours, nowHours };
    return nextWave(waves, { head: ring, state: builder, times });
  };
}

/**
 * Returns the fewest minutes after which a move may start. Bisection works, because rested
 * partitions stay rested.
 */
function minutesOfRest({ state }: StoredVersion, readyIn: (hours: number) => NextWave): number {
  let [low, high] = [0, Math.ceil((state?.minPartHours ?? 0) * MINUTES_PER_HOUR)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (readyIn(middle / MINUTES_PER_HOUR).moves.length > 0) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * A version that changes the remaining moves logs their total as `movesLeft`. Those not in the
 * version's file were not noted.
 */
export function notNoted(entries: readonly LogEntry[], noted: number): number {
  const counted = entries.findLast(({ figures }) => figures['movesLeft'] !== undefined);
  return Math.max(0, (counted?.figures['movesLeft'] ?? 0) - noted);
}

/** Warns that a plan is too large for the version to note all of it. */
export function notNotedFindings({ ring, later, movesLeft }: Plan): Finding[] {
  const left = movesLeft - moveCount(later);
  if (left === 0) return [];
  const message =
    `${left} of ${movesLeft} moves that are left for later exceed what a version can note: ` +
    `after a rollout of the others, ring-builder plan ${ring} shows the next commit`;
  return [{ code: 'MOVES_NOT_NOTED', message, details: { movesLeft, movesNotNoted: left } }];
}

/** Returns lines for people; none if nothing is left. */
export function wavesLeftLines(
  ring: string,
  { movesLeft, movesNotNoted, restsUntil, change, forSwift }: WavesLeft,
): Lines {
  if (forSwift) return swiftLines(ring, { movesLeft, restsUntil });
  const noted = movesLeft - movesNotNoted;
  const rest =
    restsUntil === null
      ? ''
      : `, because of min_part_hours: run ring-builder rollout ${ring} after ${restsUntil.slice(0, 16)}Z`;
  return [
    noted > 0 &&
      `${counted(noted, 'move is', 'moves are')} left for later waves of the rollout${rest}`,
    movesNotNoted > 0 &&
      `${counted(movesNotNoted, 'move')} of the change ${movesNotNoted === 1 ? 'was' : 'were'} not noted; to continue with ${movesNotNoted === 1 ? 'it' : 'them'}: ring-builder ${change}`,
  ];
}

function swiftLines(
  ring: string,
  { movesLeft, restsUntil }: Pick<WavesLeft, 'movesLeft' | 'restsUntil'>,
): string[] {
  if (movesLeft === 0) return [];
  const rest = restsUntil === null ? '' : `, after ${restsUntil.slice(0, 16)}Z (min_part_hours)`;
  const left = `${counted(movesLeft, 'move is', 'moves are')} left`;
  const when = `when Swift has replicated this version${rest}`;
  return [`${left}: ${when}, ring-builder plan ${ring} and a commit continue with them`];
}
