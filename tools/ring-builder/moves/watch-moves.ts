// Tracks the moves of a rollout and shows them after every look.
import { setTimeout } from 'node:timers/promises';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { completeWaitMsMax } from '@ringwright/base/limits-copies';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { movesComplete } from '@ringwright/wire/moves';
import type { Context } from '../cli/command.ts';
import { isFinal } from '../servers/advice.ts';
import { tokenAdvice } from '../servers/advice-rows.ts';
import { giveTrust } from '../servers/give-trust.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { connectTimeoutMs, fanOut, withServer } from '../servers/server-connection.ts';
import { beaconMinutes, trustToGive } from '../versions/sign-beacon.ts';
import { askMoves } from './ask-moves.ts';
import { noMoveRate, observe } from './move-rate.ts';
import { hasNoAccess, type MoveRow, moveRows, type StatusByDevice } from './move-rows.ts';
import { drawBoard } from './print-board.ts';

/** Short, so that a small move need not wait for the look that sees its end. */
const watchMsMin = 25;
const watchMsMax = 3_000;

/**
 * A look asks every server about every partition, so looks take at most a thirtieth of the time.
 * Completion is reported by the servers themselves (pauseUntilComplete).
 */
function watchPauseMs(tookMs: number): number {
  return Math.min(Math.max(29 * tookMs, watchMsMin), watchMsMax);
}

/** The answers of all servers at one time, and the rows made of them. */
export interface MovesSnapshot {
  readonly statuses: StatusByDevice;
  readonly rows: readonly MoveRow[];
}

export interface MoveWatch {
  /**
   * Asks all servers of the version and shows their answers. Also renews beacons. Throws
   * TOKEN_REFUSED and the like if no server answers, and one refuses the token for good.
   */
  readonly look: (head: StoredVersion, doing: string) => Promise<MovesSnapshot>;
  /** Pauses until the next look. `tookMs`: duration of the last one. */
  readonly pause: (head: StoredVersion, tookMs: number) => Promise<void>;
  /** Shows the present step without asking servers. */
  readonly show: (head: StoredVersion, doing: string) => void;
}

/** `finished`: moves that this rollout has finished. */
export function watchMoves(context: Context, finished: () => number): MoveWatch {
  const renewBeacon = keepBeacon(context);
  let rate = noMoveRate;
  let lastSnapshot: { readonly version: number; readonly rows: readonly MoveRow[] } | null = null;
  const show: MoveWatch['show'] = ({ ring: { keyspace: ring, version } }, doing) => {
    // Rows of an earlier version may be finished by now, and are counted as such.
    const rows = lastSnapshot?.version === version ? lastSnapshot.rows : [];
    context.show(drawBoard({ ring, version, doing, rows, rate, finished: finished() }));
  };
  const pause = pauseUntilComplete();
  return {
    show,
    pause: (head, tookMs) => pause(head, watchPauseMs(tookMs)),
    look: async (head, doing) => {
      await renewBeacon(head);
      const statuses = await askMoves(head.ring, ringTargets(head.ring, head.state));
      requireAccess(statuses);
      const rows = moveRows(head.ring, statuses);
      lastSnapshot = { version: head.ring.version, rows };
      rate = observe(rate, rows, context.nowMs());
      show(head, doing);
      return { statuses, rows };
    },
  };
}

/** A token may expire or be revoked during a rollout. To wait for the servers would not help. */
function requireAccess(statuses: StatusByDevice): void {
  const answers = [...statuses.values()];
  const refusal = answers.find((one) => hasNoAccess(one) && isFinal(one.code));
  if (!(refusal instanceof CodedError) || answers.some((one) => !(one instanceof Error))) return;
  const { code, message, details } = refusal;
  throw new CodedError(code, `the servers refuse this command: ${message}`, {
    hint: `${tokenAdvice.text}; then repeat the command: it continues where it stopped`,
    details,
  });
}

/** A third of a beacon's life: if a server is not reached, two more attempts follow. */
const renewMs = (beaconMinutes * 60_000) / 3;

/**
 * A rollout may outlast a beacon. Returns a function that sends servers a fresh beacon of the head,
 * at most every third of a beacon's life, or nothing if there is no beacon key here. The push of
 * the head sent the first one.
 */
function keepBeacon(context: Context): (head: StoredVersion) => Promise<void> {
  let givenMs = context.nowMs();
  return async (head) => {
    const now = context.nowMs();
    if (now - givenMs < renewMs) return;
    givenMs = now;
    const trust = await trustToGive(context, head);
    if (trust === null || trust.beacons.length === 0) return;
    const outcomes = await giveTrust(ringTargets(head.ring, head.state), trust);
    const failed = outcomes.filter(({ outcome }) => outcome !== 'accepted');
    if (failed.length === 0) return;
    const names = failed.map(({ address, code }) => `${address} (${code})`).join(', ');
    context.tell(`${head.ring.keyspace}: no fresh beacon on ${names}`);
  };
}

/** Least pause between two looks where servers report the end, for the display. */
const showMsMin = 200;

/** Waits until all servers of the version report completion, or for about `ms`. */
type PauseUntilComplete = (head: StoredVersion, ms: number) => Promise<void>;

/**
 * Returns a pause. If a server cannot report, because it is unreachable or an older release, the
 * pause lasts `ms`. So does the pause after a look that came too early.
 */
export function pauseUntilComplete(
  ask: (head: StoredVersion) => Promise<boolean> = areComplete,
): PauseUntilComplete {
  let pendingCheck: { readonly id: string; readonly complete: Promise<boolean> } | null = null;
  /** The version last reported as complete. The next version is waited for anew. */
  let reportedId: string | null = null;
  return async (head, ms) => {
    if (reportedId === head.id) {
      reportedId = null;
      await setTimeout(ms);
      return;
    }
    if (pendingCheck?.id !== head.id) pendingCheck = { id: head.id, complete: ask(head) };
    const controller = new AbortController();
    const time = setTimeout(Math.max(ms, showMsMin), null, { signal: controller.signal });
    time.catch(() => undefined); // the abort is expected
    const complete = await Promise.race([time, pendingCheck.complete]);
    controller.abort();
    if (complete === null) return;
    pendingCheck = null;
    reportedId = complete ? head.id : null;
    if (!complete) await setTimeout(ms);
  };
}

async function areComplete(head: StoredVersion): Promise<boolean> {
  const required = ringTargets(head.ring, head.state).filter((target) => target.required);
  const completeFlags = await fanOut(required, ({ address }) => isComplete(address, head));
  return completeFlags.every((one) => one);
}

/** Returns false if the server cannot report, or if another version is active there. */
async function isComplete(address: string, { ring }: StoredVersion) {
  const { keyspace, version: ringVersion } = ring;
  const request = { keyspace, ringVersion, waitMs: completeWaitMsMax };
  const timeoutMs = completeWaitMsMax + connectTimeoutMs;
  const statuses = await resultOrError(
    withServer(address, async (server) => {
      for (;;) {
        const askedMs = performance.now();
        const { complete } = await server.call(movesComplete, request, timeoutMs);
        if (complete || performance.now() - askedMs < completeWaitMsMax / 2) return complete;
      }
    }),
  );
  return statuses === true;
}
