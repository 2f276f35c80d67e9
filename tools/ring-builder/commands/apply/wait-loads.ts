// Waits until the joiners hold the partitions of all moves that are not paused.
import type { CodedError } from '@ringwright/base/coded-error';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import type { Context } from '../../cli/command.ts';
import { hasNewerHead, headWatch } from '../../moves/head-watch.ts';
import type { MoveRow } from '../../moves/move-rows.ts';
import { stuckMoves } from '../../moves/stuck-moves.ts';
import type { MovesSnapshot, MoveWatch } from '../../moves/watch-moves.ts';
import { waitUntil } from '../../servers/wait-until.ts';
import { addLoaded, type Loaded, nothingLoaded } from './rollout-totals.ts';
import { stalledLoads } from './stalled-loads.ts';

interface LoadsAnswer {
  /** The head has changed: start over with the new one. */
  readonly headMoved: boolean;
  readonly available: readonly Move[];
  readonly paused: readonly Move[];
  /** Why the other moves made no progress; null if there are none. */
  readonly stall: CodedError | null;
  /** Totals of the available moves. */
  readonly loaded: Loaded;
}

interface Asked extends MovesSnapshot {
  readonly headMoved: boolean;
}

/** Ends also after `stallMs` without progress, with a ROLLOUT_STALLED that quotes the joiners. */
export async function waitForLoads(
  context: Pick<Context, 'rings' | 'user' | 'nowMs'>,
  inputs: {
    readonly head: StoredVersion;
    readonly moves: readonly Move[];
    readonly watch: MoveWatch;
    readonly stallMs: number;
  },
): Promise<LoadsAnswer> {
  const { head, moves, watch, stallMs } = inputs;
  const headMoved = headWatch(context.rings, head);
  const open = new Set(moves.map(({ assignment }) => assignment));
  const progressOf = progressReader();
  const othersProgress = othersProgressReader();
  const doing = isFill(head.ring)
    ? 'new files are filled from those of their parents'
    : 'joiners copy';
  const openRows = ({ rows }: MovesSnapshot) =>
    rows.filter(({ assignment }) => assignment !== null && open.has(assignment));
  const { answer, done } = await waitUntil({
    ask: async (): Promise<Asked> => {
      const snapshot = await watch.look(head, doing);
      return { ...snapshot, headMoved: await headMoved() };
    },
    isDone: (snapshot) =>
      snapshot.headMoved ||
      openRows(snapshot).every(({ stage }) => stage === 'available' || stage === 'paused'),
    progressOf: (snapshot) => {
      const rows = openRows(snapshot);
      const own = progressOf(rows, stuckMoves(head.ring, snapshot.statuses));
      return rows.some(({ stage }) => stage === 'queued')
        ? `${own} ${othersProgress(snapshot)}`
        : own;
    },
    stallMs,
    pause: (tookMs) => watch.pause(head, tookMs),
    nowMs: context.nowMs,
    tell: () => undefined, // the display shows more
  });
  // Without progress, another working copy may have ended these moves.
  const known = { ring: head.ring.keyspace, id: head.id };
  const isMoved = answer.headMoved || (!done && (await hasNewerHead(context, known)));
  const inStage = (wantedStage: string): Move[] => {
    const found = new Set(
      openRows(answer)
        .filter(({ stage }) => stage === wantedStage)
        .map(({ assignment }) => assignment),
    );
    return moves.filter(({ assignment }) => found.has(assignment));
  };
  const available = inStage('available');
  const loaded = loadedOf(head, answer, available);
  const stall = done
    ? null
    : stalledLoads(head, answer.statuses, { rows: openRows(answer), stallMs });
  return { headMoved: isMoved, available, paused: inStage('paused'), stall, loaded };
}

/** Copies of one load that count as progress. Further copies would fail like these. */
const COPIES_MAX = 3;

interface Tries {
  /** Copies that were started. */
  readonly copies: number;
  readonly bytes: number;
  readonly isCopying: boolean;
}

/**
 * Returns a function to call at each look. Its text changes only with real progress: a load that
 * fails and retries makes none, nor does one whose complete copies fail their checks. For `stuck`
 * moves only one copy counts, which is enough if they were forced.
 */
function progressReader(): (rows: readonly MoveRow[], stuck: ReadonlySet<number | null>) => string {
  const tries = new Map<number | null, Tries>();
  return (rows, stuck) =>
    rows
      .map(({ assignment, stage, bytes, rows: rowCount }) => {
        const before = tries.get(assignment) ?? { copies: 0, bytes: 0, isCopying: false };
        const isCopying = stage !== 'queued' && stage !== 'reserving' && stage !== 'failed';
        const isNewCopy = isCopying && (!before.isCopying || bytes < before.bytes);
        const copies = before.copies + (isNewCopy ? 1 : 0);
        tries.set(assignment, { copies, bytes, isCopying });
        if (stage === 'available') return stage;
        return copies > (stuck.has(assignment) ? 1 : COPIES_MAX)
          ? ''
          : `${isCopying ? stage : ''} ${bytes} ${rowCount}`;
      })
      .join();
}

/**
 * Returns a function that sums what the servers have loaded for other rings, as those loads go
 * first. A copy that fails and begins anew adds nothing until it gets further than before.
 */
function othersProgressReader(): (snapshot: MovesSnapshot) => number {
  const most = new Map<string, number>();
  return ({ statuses }) => {
    for (const [device, status] of statuses) {
      for (const load of status instanceof Error ? [] : status.otherLoads) {
        const { ring, partition, assignment, stage, bytes, rows } = load;
        const key = `${device} ${ring} ${partition} ${assignment}`;
        const amount = bytes + rows + (stage === 'available' ? 1 : 0);
        most.set(key, Math.max(most.get(key) ?? 0, amount));
      }
    }
    return most.values().reduce((sum, amount) => sum + amount, 0);
  };
}

/** Whether the moves are those of a split or merge, whose devices fill new files from their own. */
export function isFill({ reshape }: Pick<Ring, 'reshape'>): boolean {
  return reshape?.kind === 'to';
}

function loadedOf(
  { ring }: StoredVersion,
  { statuses }: MovesSnapshot,
  moves: readonly Move[],
): Loaded {
  const named = new Set(moves.map(({ assignment }) => assignment));
  const loads = [...statuses.values()]
    .flatMap((status) => (status instanceof Error ? [] : status.loads))
    .filter(({ assignment }) => assignment !== null && named.has(assignment));
  return loads.reduce<Loaded>((sum, { bytes, copiesVerified: verified }) => {
    // A device that lost the file of a parent copies it from another device.
    const isFilled = isFill(ring) && verified === 0;
    const filled = isFilled ? { slots: 1, bytes } : nothingLoaded.filled;
    return addLoaded(sum, { bytes: isFilled ? 0 : bytes, verified, filled });
  }, nothingLoaded);
}
