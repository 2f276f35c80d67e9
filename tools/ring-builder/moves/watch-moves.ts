// What a rollout has seen of its moves so far, shown as a board after every look.
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

/** A small move should not wait for the look that sees its end. */
const watchMsMin = 25;
const watchMsMax = 3_000;

/**
 * All servers are asked, of each partition, and they have other work: looking takes a thirtieth of
 * the time. That all is done they tell by themselves.
 */
function watchPauseMs(tookMs: number): number {
  return Math.min(Math.max(29 * tookMs, watchMsMin), watchMsMax);
}

export interface Look {
  readonly said: Said;
  readonly rows: readonly MoveRow[];
}

export interface MoveWatch {
  /** Asks all servers of the version, and shows what they say; beacons live on meanwhile. */
  readonly look: (head: StoredVersion, doing: string) => Promise<Look>;
  /** Until it is time for the next look, of which the last one took so long. */
  readonly pause: (head: StoredVersion, tookMs: number) => Promise<void>;
  /** Shows what is done without asking. */
  readonly show: (head: StoredVersion, doing: string) => void;
}

/** `finished`: moves that this rollout has brought to their end. */
export function watchMoves(context: Context, finished: () => number): MoveWatch {
  const renewBeacon = keepBeacon(context);
  let rate = noMoveRate;
  let seen: { readonly version: number; readonly rows: readonly MoveRow[] } | null = null;
  const show: MoveWatch['show'] = ({ ring: { keyspace: ring, version } }, doing) => {
    // Moves of the version before may be finished by now, and count as that.
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

/** Twice more before it runs out, should a server not be reached. */
const renewMs = (beaconMinutes * 60_000) / 3;

/**
 * A rollout may take longer than a beacon lives. The function returned gives servers a fresh one of
 * the head, at most every third of a beacon's life; nothing where no beacon key is here. The push
 * of the head gave the first.
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
