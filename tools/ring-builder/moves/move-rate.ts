// Computes how fast moves progress: bytes per second of late, the time left, and stalled moves.
// Pure.
import type { MoveRow } from './move-rows.ts';

/**
 * The rate covers the last ten seconds: short enough to show a throttle, long enough to be steady.
 */
const WINDOW_MS = 10_000;
/**
 * A running move is shown as stalled after this time without a byte, a row or a change of stage.
 */
const STALL_MS = 15_000;

interface Mark {
  /** Changes with any progress of the move. */
  readonly text: string;
  readonly sinceMs: number;
}

export interface MoveRate {
  /** Total bytes copied at different times, oldest first. */
  readonly samples: readonly { readonly ms: number; readonly bytes: number }[];
  readonly marks: ReadonlyMap<number, Mark>;
  /** Assignment ids of running moves without progress. */
  readonly stalled: ReadonlySet<number>;
  /**
   * Null until two samples at different times exist, and while everything left to copy is paused.
   */
  readonly bytesPerSecond: number | null;
  /** Seconds until everything that is not paused is copied at this rate; null: unknown. */
  readonly secondsLeft: number | null;
}

export const noMoveRate: MoveRate = {
  samples: [],
  marks: new Map(),
  stalled: new Set(),
  bytesPerSecond: null,
  secondsLeft: null,
};

const runningStages: ReadonlySet<string> = new Set(['reserving', 'copying', 'catching-up']);

/** Returns the rate after another look at the moves. */
export function observe(before: MoveRate, rows: readonly MoveRow[], nowMs: number): MoveRate {
  const marks = new Map<number, Mark>();
  const stalled = new Set<number>();
  for (const { assignment, stage, bytes, rows: count } of rows) {
    if (assignment === null) continue;
    const text = `${stage} ${bytes} ${count}`;
    const known = before.marks.get(assignment);
    const mark = known?.text === text ? known : { text, sinceMs: nowMs };
    marks.set(assignment, mark);
    if (runningStages.has(stage) && nowMs - mark.sinceMs >= STALL_MS) stalled.add(assignment);
  }
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  // Completed moves leave the rows with their bytes. A lower sum starts the samples anew.
  const earlier = (before.samples.at(-1)?.bytes ?? 0) > bytes ? [] : before.samples;
  const samples = [...earlier.filter(({ ms }) => nowMs - ms <= WINDOW_MS), { ms: nowMs, bytes }];
  const bytesPerSecond = isHeld(rows) ? null : rateOf(samples);
  const left = bytesLeft(rows.filter(({ stage }) => stage !== 'paused'));
  const known = bytesPerSecond !== null && bytesPerSecond > 0 && left !== null;
  const secondsLeft = known ? left / bytesPerSecond : null;
  return { samples, marks, stalled, bytesPerSecond, secondsLeft };
}

/** Whether everything left to copy is paused. */
function isHeld(rows: readonly MoveRow[]): boolean {
  const open = rows.filter(({ assignment, stage }) => assignment !== null && stage !== 'available');
  return open.length > 0 && open.every(({ stage }) => stage === 'paused');
}

function rateOf(samples: MoveRate['samples']): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.ms === first.ms) return null;
  return ((last.bytes - first.bytes) * 1_000) / (last.ms - first.ms);
}

/** A move that has not begun counts with the mean size; null while no size is known. */
export function bytesLeft(rows: readonly MoveRow[]): number | null {
  const moving = rows.filter(({ assignment }) => assignment !== null);
  const sized = moving.filter(({ bytesTotal }) => bytesTotal > 0);
  const total = sized.reduce((sum, { bytesTotal }) => sum + bytesTotal, 0);
  // Rows written during the copy are in `bytes` but not in `bytesTotal`.
  const remaining = sized.reduce((sum, one) => sum + Math.max(0, one.bytesTotal - one.bytes), 0);
  const unknown = moving.filter(
    ({ bytesTotal, stage }) => bytesTotal === 0 && stage !== 'available',
  ).length;
  if (unknown > 0 && sized.length === 0) return null;
  return remaining + (unknown === 0 ? 0 : (unknown * total) / sized.length);
}
