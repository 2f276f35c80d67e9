// How fast moves go: bytes a second over the last while, what is left, and which stand still. Pure.
import type { MoveRow } from './move-rows.ts';

/** The rate is that of the last ten seconds: short enough to show a throttle, long enough to read. */
const WINDOW_MS = 10_000;
/** Without a byte, a row or another stage for so long, a move that runs is shown as stalled. */
const STALL_MS = 15_000;

interface Mark {
  /** Changes whenever the move gets on. */
  readonly text: string;
  readonly sinceMs: number;
}

export interface MoveRate {
  /** Bytes copied in all, at different times, oldest first. */
  readonly samples: readonly { readonly ms: number; readonly bytes: number }[];
  readonly marks: ReadonlyMap<number, Mark>;
  /** Assignment ids of moves that should get on and do not. */
  readonly stalled: ReadonlySet<number>;
  /** Null until two samples lie apart, and while all that is to be copied is paused. */
  readonly bytesPerSecond: number | null;
  /** Seconds until all that nobody has paused is copied at that rate; null: nobody can tell. */
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

/** The rate after one more look at the moves. */
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
  // Moves that end take their bytes with them: then the count begins anew.
  const kept = (before.samples.at(-1)?.bytes ?? 0) > bytes ? [] : before.samples;
  const samples = [...kept.filter(({ ms }) => nowMs - ms <= WINDOW_MS), { ms: nowMs, bytes }];
  const bytesPerSecond = isHeld(rows) ? null : rateOf(samples);
  const left = bytesLeft(rows.filter(({ stage }) => stage !== 'paused'));
  const known = bytesPerSecond !== null && bytesPerSecond > 0 && left !== null;
  const secondsLeft = known ? left / bytesPerSecond : null;
  return { samples, marks, stalled, bytesPerSecond, secondsLeft };
}

/** Whether nothing is left to copy but what is paused. */
function isHeld(rows: readonly MoveRow[]): boolean {
  const open = rows.filter(({ assignment, stage }) => assignment !== null && stage !== 'available');
  return open.length > 0 && open.every(({ stage }) => stage === 'paused');
}

function rateOf(samples: MoveRate['samples']): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.ms === first.ms) return null;
  return ((last.bytes - first.bytes) * 1_000) / (last.ms - first.ms);
}

/** Moves that have not begun count as one of the mean size; null while no size is known. */
export function bytesLeft(rows: readonly MoveRow[]): number | null {
  const moving = rows.filter(({ assignment }) => assignment !== null);
  const sized = moving.filter(({ bytesTotal }) => bytesTotal > 0);
  const total = sized.reduce((sum, { bytesTotal }) => sum + bytesTotal, 0);
  // What was written meanwhile is in what is there, and not in the total.
  const begun = sized.reduce((sum, one) => sum + Math.max(0, one.bytesTotal - one.bytes), 0);
  const unknown = moving.filter(
    ({ bytesTotal, stage }) => bytesTotal === 0 && stage !== 'available',
  ).length;
  if (unknown > 0 && sized.length === 0) return null;
  return begun + (unknown === 0 ? 0 : (unknown * total) / sized.length);
}
