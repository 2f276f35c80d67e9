// What a rollout has seen of its moves so far, shown as a board after every look.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../cli/verb.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { askMoves } from './ask-moves.ts';
import { keepBeacon } from './keep-beacon.ts';
import { noMoveRate, observe } from './move-rate.ts';
import { type MoveRow, moveRows, type Said } from './move-rows.ts';
import { drawBoard } from './print-board.ts';

/** A small move should not wait for the look that sees its end. */
const watchMsMin = 25;
const watchMsMax = 1_000;

/** All servers are asked, and they have other work: looking takes a tenth of the time at most. */
export function watchPauseMs(tookMs: number): number {
  return Math.min(Math.max(9 * tookMs, watchMsMin), watchMsMax);
}

export interface Look {
  readonly said: Said;
  readonly rows: readonly MoveRow[];
}

export interface MoveWatch {
  /** Asks all servers of the version, and shows what they say; beacons live on meanwhile. */
  readonly look: (head: StoredVersion, doing: string) => Promise<Look>;
  /** Shows what is done without asking. */
  readonly show: (head: StoredVersion, doing: string) => void;
}

/** `finished`: moves that this rollout has brought to their end. */
export function watchMoves(context: Context, finished: () => number): MoveWatch {
  const renewBeacon = keepBeacon(context);
  let rate = noMoveRate;
  let rows: readonly MoveRow[] = [];
  const show: MoveWatch['show'] = ({ ring: { keyspace: ring, version } }, doing) =>
    context.show(drawBoard({ ring, version, doing, rows, rate, finished: finished() }));
  return {
    show,
    look: async (head, doing) => {
      await renewBeacon(head);
      const said = await askMoves(head.ring, ringTargets(head.ring, head.state));
      rows = moveRows(head.ring, said);
      rate = observe(rate, rows, context.nowMs());
      show(head, doing);
      return { said, rows };
    },
  };
}
