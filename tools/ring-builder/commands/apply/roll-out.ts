// Drives the moves of the head to their end. All state is in the ring and on the servers, so the
// process can die at any point and be started again, here or by another operator.
import { setTimeout } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { finalizeMoves, initializeMoves } from '@ringwright/ring/advance-ring';
import type { Move } from '@ringwright/ring/move';
import type { Context } from '../../cli/command.ts';
import { type HourWindow, isInside, printWindow } from '../../cli/parse-window.ts';
import { headWatch } from '../../moves/head-watch.ts';
import { rateOfRollout } from '../../moves/lend-rate.ts';
import { provenMoves, unproved, withAllNew } from '../../moves/proven-moves.ts';
import { type MoveWatch, watchMoves } from '../../moves/watch-moves.ts';
import { awayLine } from '../../plan/unreachable-impact.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { keepingConnections } from '../../servers/server-connection.ts';
import { advanceHead } from '../../versions/advance-head.ts';
import { askCopyLimits } from './ask-copy-limits.ts';
import { dropGoneDevices } from './drop-gone-devices.ts';
import { isWaveLeft, proposeNextWave } from './propose-next-wave.ts';
import { requireNoFork } from './require-no-fork.ts';
import { nextRolloutStep, type RolloutStep } from './rollout-step.ts';
import { addLoaded, noTotals, type RolloutTotals } from './rollout-totals.ts';
import { waitForConfirms } from './wait-confirms.ts';
import { type Drains, waitForDrains } from './wait-drains.ts';
import { isFill, waitForLoads } from './wait-loads.ts';

/** The hours begin on a full hour; this pause between looks keeps the display alive. */
const hoursPollMs = 1_000;
/** Polls of a held lock are never further apart than this. */
const lockAnewMs = 5_000;

export interface RolloutOptions {
  readonly stallMs: number;
  readonly skipDown: boolean;
  /** Confirm drops that servers hold back because no move explains them. */
  readonly confirmDrops: boolean;
  /** Stop after each new version. */
  readonly step: boolean;
  /** Moves that may copy at once. */
  readonly movesMax: number;
  /** Bytes of partitions that may copy at once. */
  readonly bytesMax: number;
  /** Stop after this many versions that finalize moves. */
  readonly wavesMax: number;
  /** Bytes per second that each server may send, and receive; null: keep its present rate. */
  readonly rate: number | null;
  /** Null: at any hour. */
  readonly window: HourWindow | null;
  /** Reason why later waves pass although the change guard would stop them. */
  readonly override: string | null;
}

/**
 * Why the rollout ended. done: nothing is left to do. drains: files are still to be dropped. step,
 * waves and paused: an operator wanted it to stop.
 */
export type RolloutEnd = 'done' | 'drains' | 'step' | 'waves' | 'paused';

export interface RolloutOutcome {
  readonly head: StoredVersion;
  readonly end: RolloutEnd;
  readonly drains: Drains;
  readonly totals: Readonly<RolloutTotals>;
  /** Number of moves that an operator has paused. */
  readonly paused: number;
}

/** Each round waits for all servers and for the loads. */
const UNPROVED_ROUNDS_MAX = 5;

type Away = Parameters<typeof awayLine>[1];

interface Rollout {
  readonly context: Context;
  readonly options: RolloutOptions;
  readonly totals: RolloutTotals;
  readonly watch: MoveWatch;
  head: StoredVersion;
}

/**
 * Throws RING_FORK, SERVERS_NOT_CONFIRMED, ROLLOUT_STALLED, RECEIPTS_MISSING, and what commits
 * throw.
 */
export async function rollOut(
  context: Context,
  ring: string,
  options: RolloutOptions,
): Promise<RolloutOutcome> {
  const totals = { ...noTotals };
  const watch = watchMoves(context, () => totals.moved);
  const head = await readVersion(context.rings, ring, 'head');
  const rollout = { context, options, totals, watch, head };
  const serversNow = () => ringTargets(rollout.head.ring, rollout.head.state);
  const restoreRate = await rateOfRollout(context, { ring, serversNow }, options.rate);
  try {
    return await keepingConnections(() => everyStep(rollout, ring));
  } finally {
    await restoreRate();
  }
}

async function everyStep(rollout: Rollout, ring: string): Promise<RolloutOutcome> {
  const { context, options, totals } = rollout;
  const onInterference = afterOthers(context, options);
  for (;;) {
    const head = await readVersion(context.rings, ring, 'head');
    rollout.head = head;
    const headMoved = headWatch(context.rings, head);
    const end = await pushAndStep(rollout, head).catch(onInterference);
    // Another command may have moved the head while servers dropped their files.
    if ((end?.end === 'done' || end?.end === 'drains') && (await headMoved())) continue;
    if (end !== null) return { ...noDrains, paused: 0, ...end, head, totals };
  }
}

async function pushAndStep(rollout: Rollout, head: StoredVersion): Promise<Ended | null> {
  const { context, options, watch } = rollout;
  watch.show(head, 'sending to the servers');
  await requireNoFork(context, head);
  const away = await waitForConfirms(context, head, options);
  tellAway(rollout, head, away);
  return takeStep(rollout, head);
}

/** Reports unreachable servers once, until the set of them changes. */
function tellAway({ context, totals }: Rollout, { ring }: StoredVersion, away: Away): void {
  const names = away.map(({ address }) => address).join(' ');
  if (away.length > 0 && names !== totals.shownAway) context.tell(awayLine(ring, away));
  totals.shownAway = names;
}

/**
 * Handles interference by other operators, which does not end a rollout. If another command moved
 * the head, the rollout continues with the new head. If another command holds the lock, it waits up
 * to stallMs.
 */
function afterOthers(context: Context, { stallMs }: RolloutOptions): (error: unknown) => null {
  let lockedFrom: number | null = null;
  let seenMs = 0;
  return (error) => {
    if (!(error instanceof CodedError)) throw error;
    const now = context.nowMs();
    if (error.code === 'LOCK_HELD') {
      // If the lock was free for a while, a different command holds it now.
      if (lockedFrom === null || now - seenMs > lockAnewMs) lockedFrom = now;
      seenMs = now;
      if (now - lockedFrom > stallMs) throw error;
      context.tell(`${error.message}; waiting for it`);
      return null;
    }
    if (error.code !== 'HEAD_MOVED') throw error;
    context.tell(`${error.message}; continuing with the new head`);
    return null;
  };
}

const noDrains: Pick<RolloutOutcome, 'drains'> = { drains: { left: [], isLeftToDown: false } };

type Ended = Pick<RolloutOutcome, 'end'> & Partial<Pick<RolloutOutcome, 'drains' | 'paused'>>;

/** Takes one step. Returns null if the rollout is to continue. */
async function takeStep(rollout: Rollout, head: StoredVersion): Promise<Ended | null> {
  const { context, options, totals } = rollout;
  const step = nextRolloutStep(head.ring, await askCopyLimits(head, options));
  const stopReason = step.kind === 'drain' ? null : whyStop(rollout, step);
  if (stopReason !== null) return { end: stopReason };
  if (step.kind === 'initialize' && isOutside(rollout)) return finishOnly(rollout, head);
  if (step.kind === 'initialize') {
    const assignments = new Set(step.moves.map(({ assignment }) => assignment));
    const { keyspace, version } = head.ring;
    const who = options.skipDown ? 'all servers that answer know' : 'every server knows';
    const what = isFill(head.ring)
      ? `of the split or merge; ${counted(assignments.size, 'slot')} may be filled`
      : `of ${counted(assignments.size, 'move')}; joiners may copy`;
    context.tell(`${keyspace} version ${version}: ${who} ${what}`);
    const next = initializeMoves(head.ring, head.id, assignments);
    const message = `${counted(assignments.size, 'move')} initializing`;
    await advanceHead(context, head, { next, message, moves: head.ring.moves.length });
  } else if (step.kind === 'finalize') {
    const end = await finalize(rollout, head, step.moves);
    if (end !== 'advanced') return end;
  } else {
    return drain(rollout, head);
  }
  totals.versions += 1;
  return null;
}

/** Outside the hours: finishes the moves in flight. With none, or only paused ones, it waits. */
async function finishOnly(rollout: Rollout, head: StoredVersion): Promise<null> {
  const copying = head.ring.moves.filter(({ state }) => state === 'INITIALIZING');
  const end = copying.length === 0 ? 'none' : await finalize(rollout, head, copying);
  if (end === 'advanced') rollout.totals.versions += 1;
  else if (end !== null) await waitForHours(rollout, head);
  return null;
}

/** Checks before a new wave begins: --step and --waves. */
function whyStop({ options, totals }: Rollout, step: RolloutStep): RolloutEnd | null {
  if (options.step && totals.versions > 0) return 'step';
  if (step.kind === 'finalize') return null;
  return totals.waves >= options.wavesMax ? 'waves' : null;
}

function isOutside({ context, options: { window } }: Rollout): boolean {
  return window !== null && !isInside(window, context.localHour());
}

/**
 * Returns false at once inside the hours. Otherwise waits for them, or for a new head, and returns
 * true.
 */
async function waitForHours(rollout: Rollout, head: StoredVersion): Promise<boolean> {
  const { context, options, watch } = rollout;
  const { window } = options;
  if (window === null || !isOutside(rollout)) return false;
  const { keyspace } = head.ring;
  const hours = printWindow(window, context.timeZone);
  context.tell(`${keyspace}: new waves begin only during ${hours}; waiting`);
  const headMoved = headWatch(context.rings, head);
  while (isOutside(rollout) && !(await headMoved())) {
    await watch.look(head, `waiting for ${hours}`);
    await setTimeout(hoursPollMs);
  }
  return true;
}

async function drain(rollout: Rollout, head: StoredVersion): Promise<Ended | null> {
  const { context, options, totals, watch } = rollout;
  const leftBefore = totals.leftTo;
  const drains = await waitForDrains(context, { head, watch, ...options, leftBefore });
  const isLeft = drains.left.length > 0;
  if (isLeft && !drains.isLeftToDown) return { end: 'drains', drains };
  totals.leftTo = new Set([...leftBefore, ...drains.left.map(({ address }) => address)]);
  const stopReason = whyStop(rollout, { kind: 'drain' });
  const waits = stopReason === null && isOutside(rollout) && (await isWaveLeft(context, head));
  if (waits && (await waitForHours(rollout, head))) return null;
  const hasNext =
    stopReason === null &&
    ((await proposeNextWave(context, head, options.override)) ||
      // A device that still has files to drop keeps its place in the ring.
      (drains.left.every(({ partitions }) => partitions === 0) &&
        (await dropGoneDevices(context, head, silentOf(drains)))));
  if (!hasNext) return { end: stopReason ?? (isLeft ? 'drains' : 'done'), drains };
  totals.versions += 1;
  return null;
}

/** Returns the addresses of removed servers that could not be reached. */
function silentOf({ left }: Drains): string[] {
  const silent = left.filter(({ code }) => code === 'PEER_UNREACHABLE');
  return silent.map(({ address }) => address);
}

/** Finalizes the moves whose joiners are ready, each with its receipt. */
async function finalize(
  { context, options, totals, watch }: Rollout,
  head: StoredVersion,
  moves: readonly Move[],
): Promise<Ended | null | 'advanced'> {
  const { ring, id } = head;
  const startedMs = context.nowMs();
  const { stallMs } = options;
  const loads = await waitForLoads(context, { head, moves, watch, stallMs });
  if (loads.headMoved) return null;
  totals.copyMs += context.nowMs() - startedMs;
  const ready = withAllNew(ring, loads.available);
  if (loads.stall !== null) {
    if (ready.length === 0) throw loads.stall;
    context.tell(`${ring.keyspace}: ${loads.stall.message}; the others stay in flight`);
  }
  if (ready.length === 0) return { end: 'paused', paused: loads.paused.length };
  const receipts = await provenMoves(context, ring, ready);
  if (receipts.size === 0) {
    totals.unproved += 1;
    if (totals.unproved > UNPROVED_ROUNDS_MAX) throw unproved(ring, ready, []);
    return null;
  }
  totals.unproved = 0;
  // The copies may have taken hours since the push.
  await requireNoFork(context, head);
  const assignments = new Set(receipts.keys());
  await advanceHead(context, head, {
    next: finalizeMoves(ring, id, assignments),
    message: `${counted(assignments.size, 'move')} finalized`,
    moves: receipts.size,
    receipts: [...receipts.values()],
  });
  totals.moved += assignments.size;
  totals.waves += 1;
  Object.assign(totals, addLoaded(totals, loads.loaded));
  const named = isFill(ring)
    ? 'the new partitions; the earlier ones are dropped'
    : `${counted(assignments.size, 'joiner')}; old holders drop their files`;
  context.tell(`${ring.keyspace} version ${ring.version + 1}: the table names ${named}`);
  return 'advanced';
}
