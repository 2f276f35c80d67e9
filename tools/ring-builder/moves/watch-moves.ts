// Tracks the moves of a rollout and shows them after every look.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../cli/verb.ts';
import { giveTrust } from '../servers/give-trust.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { beaconMinutes, trustToGive } from '../versions/sign-beacon.ts';
import { askMoves } from './ask-moves.ts';
import { hearComplete } from './hear-complete.ts';
import { noMoveRate, observe } from './move-rate.ts';
import { type MoveRow, moveRows, type Said } from './move-rows.ts';
import { drawBoard } from './print-board.ts';

/** Short, so that a small move need not wait for the look that sees its end. */
const watchMsMin = 25;
const watchMsMax = 3_000;

/**
 * A look asks every server about every partition, so looks take at most a thirtieth of the time.
 * Completion is reported by the servers themselves (hear-complete.ts).
 */
function watchPauseMs(tookMs: number): number {
  return Math.min(Math.max(29 * tookMs, watchMsMin), watchMsMax);
}

/** The answers of all servers at one time, and the rows made of them. */
export interface Look {
  readonly said: Said;
  readonly rows: readonly MoveRow[];
}

export interface MoveWatch {
  /** Asks all servers of the version and shows their answers. Also renews beacons. */
  readonly look: (head: StoredVersion, doing: string) => Promise<Look>;
  /** Pauses until the next look. `tookMs`: duration of the last one. */
  readonly pause: (head: StoredVersion, tookMs: number) => Promise<void>;
  /** Shows the present step without asking servers. */
  readonly show: (head: StoredVersion, doing: string) => void;
}

/** `finished`: moves that this rollout has finished. */
export function watchMoves(context: Context, finished: () => number): MoveWatch {
  const renewBeacon = keepBeacon(context);
  let rate = noMoveRate;
  let seen: { readonly version: number; readonly rows: readonly MoveRow[] } | null = null;
  const show: MoveWatch['show'] = ({ ring: { keyspace: ring, version } }, doing) => {
    // Rows of an earlier version may be finished by now, and are counted as such.
    const rows = seen?.version === version ? seen.rows : [];
    context.show(drawBoard({ ring, version, doing, rows, rate, finished: finished() }));
  };
  const pause = hearComplete();
  return {
    show,
    pause: (head, tookMs) => pause(head, watchPauseMs(tookMs)),
    look: async (head, doing) => {
      await renewBeacon(head);
      const said = await askMoves(head.ring, ringTargets(head.ring, head.state));
      const rows = moveRows(head.ring, said);
      seen = { version: head.ring.version, rows };
      rate = observe(rate, rows, context.nowMs());
      show(head, doing);
      return { said, rows };
    },
  };
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
    const told = await giveTrust(ringTargets(head.ring, head.state), trust);
    const failed = told.filter(({ outcome }) => outcome !== 'accepted');
    if (failed.length === 0) return;
    const names = failed.map(({ address, code }) => `${address} (${code})`).join(', ');
    context.tell(`${head.ring.keyspace}: no fresh beacon at ${names}`);
  };
}
