// Cancels moves with a version that omits them. No other moves replace them.
import { counted } from '@ringwright/base/counted';
import { moveCount, withoutPartitions } from '@ringwright/builder/plan/later-waves';
import { changeCommand } from '@ringwright/builder/state/composition';
import { stagedState } from '@ringwright/repository/folder/builder-file';
import { laterWavesOf } from '@ringwright/repository/folder/later-section';
import { readLog } from '@ringwright/repository/folder/read-log';
import { type StoredVersion, stateOf } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import { cancelMoves, type SlotMove } from '@ringwright/ring/advance-ring';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import type { Answer, Context } from '../cli/command.ts';
import type { Advice } from '../servers/advice-rule.ts';
import { deviceNames, ifGoneForGood, permanentRemovalCommands } from '../servers/gone-for-good.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { advanceHead } from '../versions/advance-head.ts';
import { wavesLeft } from '../versions/waves-left.ts';
import { askMoves } from './ask-moves.ts';
import { isDeviceWord, namedMoves } from './named-moves.ts';

interface Cancelled {
  readonly moves: readonly Move[];
  readonly partitions: ReadonlySet<number>;
}

/**
 * Cancels the moves in flight of the named partitions, and their moves in later waves. `all` means
 * the rest of the change. Throws USAGE, MOVE_UNKNOWN, and what commitVersion throws.
 */
export async function cancelAnswer(
  context: Context,
  head: StoredVersion,
  args: readonly string[],
): Promise<Answer> {
  const { ring } = head;
  const { keyspace } = ring;
  const before = laterWavesOf(head.extraSections);
  const { moves, partitions } = chosen(head, args);
  const later = withoutPartitions(before, partitions);
  const dropped = moveCount(before) - moveCount(later);
  if (moves.length + dropped === 0) return nothing(context, head);
  const next = cancelMoves(ring, head.id, new Set(moves.map(({ assignment }) => assignment)));
  const cancelled = [...partitions];
  const rest = wavesLeft(head, await readLog(context.rings, keyspace), context.nowMs());
  const left = args.includes('all') ? 0 : rest.movesLeft - dropped;
  const { version, id } = await advanceHead(context, head, {
    next,
    message: `${counted(moves.length + dropped, 'move')} cancelled`,
    // A canceled split or merge is no longer wanted in the state either.
    state: { ...stateOf(head), partitioner: next.partitioner },
    figures: { movesLeft: left },
    details: { cancelled },
    later,
    commands: [context.command],
  });
  const inFlight = ring.moves.length - moves.length;
  const silent = await silentOf(head, args);
  const gone = await silentAdvice(context, next, silent);
  return {
    json: {
      ...{ ring: keyspace, version, id, action: 'cancel', cancelled: moves.length },
      ...{ partitions: cancelled, cancelledLater: dropped, inFlight, movesLeft: left },
      changed: true,
    },
    lines: [
      `${keyspace} version ${version}: ${counted(moves.length, 'move canceled, its slot stays where it is', 'moves canceled, their slots stay where they are')}`,
      dropped > 0 &&
        counted(
          dropped,
          'move of a later wave is canceled too',
          'moves of later waves are canceled too',
        ),
      `of the change, ${counted(inFlight, 'move is', 'moves are')} in flight and ${left} left for later waves; nothing replaces the canceled moves`,
      `to see what a commit would move now, perhaps these again: ${context.next(changeCommand(stateOf(head)))}`,
      gone?.text,
    ],
    next: context.next(gone?.command ?? `rollout ${keyspace}`),
  };
}

/** Returns the named devices whose servers do not answer. */
async function silentOf(
  { ring, state }: StoredVersion,
  args: readonly string[],
): Promise<readonly number[]> {
  const named = new Set(args.filter(isDeviceWord).map((word) => Number(word.slice(1))));
  const targets = ringTargets(ring, state).filter(({ devices }) =>
    devices.some((id) => named.has(id)),
  );
  const statuses = await askMoves(ring, targets);
  return [...named].filter((id) => statuses.get(id) instanceof Error);
}

/** Returns null if no device is silent. `ring`: without the canceled moves. */
async function silentAdvice(
  { rings }: Context,
  { keyspace, moves }: Ring,
  silent: readonly number[],
): Promise<Advice | null> {
  if (silent.length === 0) return null;
  const opened = await openRing(rings, keyspace);
  const { devices } = stagedState(opened);
  const isLeaving = (id: number): boolean => devices[id]?.state !== 'active';
  const text = `${deviceNames(silent)} does not answer: when it is back, run rollout again`;
  if (silent.every(isLeaving)) {
    return { command: changeCommand(opened.state), text: `${text}; its removal is already staged` };
  }
  const { components } = opened.state;
  const changed = { keyspace, moves, components };
  const [command = ''] = permanentRemovalCommands(changed, silent);
  return { command, text: `${text}; ${ifGoneForGood(changed, silent)}` };
}

function nothing(context: Context, { ring: { keyspace, version } }: StoredVersion): Answer {
  return {
    json: { ring: keyspace, version, action: 'cancel', cancelled: 0, changed: false },
    lines: [`${keyspace} version ${version}: nothing is in flight`],
    next: context.next(`status ${keyspace}`),
  };
}

/** New slots are added together, so canceling one of them cancels all. */
function chosen({ ring, extraSections }: StoredVersion, args: readonly string[]): Cancelled {
  const later = laterWavesOf(extraSections).flat();
  const named = new Set(namedMoves<SlotMove>(ring, [...ring.moves, ...later], args));
  const grows = ring.moves.some((move) => move.from === null && named.has(move));
  const moves = ring.moves.filter((move) => named.has(move) || (grows && move.from === null));
  return { moves, partitions: new Set([...named, ...moves].map(({ partition }) => partition)) };
}
