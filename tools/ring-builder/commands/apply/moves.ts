// ring-builder moves: lists the moves in flight; pauses, resumes, cancels, retries or prioritizes
// them.

import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { movesInFlightMax } from '@ringwright/base/limits';
import { readLog } from '@ringwright/repository/folder/read-log';
import {
  readVersion,
  type StoredVersion,
  stateOf,
} from '@ringwright/repository/folder/read-version';
import type { Move } from '@ringwright/ring/move';
import { type MoveAction, moveActions } from '@ringwright/wire/moves';
import { parseNumber, usage } from '../../cli/arguments.ts';
import { type Answer, type Command, type Context, textOption } from '../../cli/command.ts';
import { askMoves } from '../../moves/ask-moves.ts';
import { cancelAnswer } from '../../moves/cancel-moves.ts';
import { type ControlOutcome, controlMoves, forceRefills } from '../../moves/control-moves.ts';
import {
  rateAnswer,
  rateClause,
  ratesBy,
  ratesJson,
  ratesText,
  refusingServers,
} from '../../moves/copy-rates.ts';
import { moveRows } from '../../moves/move-rows.ts';
import { isDeviceWord, isNamed, namedMoves, withSelected } from '../../moves/named-moves.ts';
import { noteControl } from '../../moves/note-control.ts';
import { listedMoves } from '../../moves/print-board.ts';
import { stuckOf } from '../../moves/stuck-moves.ts';
import { printMoves } from '../../plan/print-moves.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { silentExit, silentLines } from '../../servers/silent-servers.ts';
import { wavesLeft, wavesLeftLines } from '../../versions/waves-left.ts';

const actions = ['list', 'cancel', 'rate', ...moveActions] as const;

export const command: Command = {
  positionals: {
    action: { choices: actions, describe: 'what to do; list changes nothing' },
    which: {
      array: true,
      describe: 'partitions, devices (d3: moves to and from it), or all; rate: 50MB/s or none',
    },
  },
  options: {
    reason: textOption(
      'force: why the partition may lose writes; recorded in the receipt and the log',
    ),
  },
  about: `ASSIGNMENT is the number of a move, unique within the ring: it distinguishes a
move from a later one of the same slot in lists, logs and receipts. Select moves by partition.
The lowest rate is 256KiB/s.`,
  examples: [
    ['$0 moves cities list', 'the state of each move, and why; list d5: only moves of d5'],
    [
      '$0 moves cities pause all',
      'joiners stop copying, even after a restart; partial files start over',
    ],
    ['$0 moves cities resume 17 18', 'partitions 17 and 18 continue'],
    ['$0 moves cities cancel d5', 'all moves to and from d5, if it will not return'],
    ['$0 moves cities pause @10.0.0.1', 'moves to and from the devices of a server'],
    ['$0 moves cities cancel 17', 'the slot stays where it is, and no other slot moves instead'],
    ['$0 moves cities cancel all', 'the rest of the change, including later waves'],
    [
      '$0 moves cities rate 50MB/s',
      'limit of what each server sends and receives; none removes it',
    ],
    ['$0 moves cities retry all', 'failed moves start over immediately'],
    ['$0 moves cities prioritise 17', 'before all other moves'],
    [
      '$0 moves cities force 17 --reason "both others burnt" --yes',
      'it joins with the records it has',
    ],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const action = args.chosen('action', actions);
    const head = await readVersion(context.rings, ring, 'head');
    const which = args.texts('which');
    if (action === 'list') return listMoves(context, head, which);
    if (action === 'rate') return rateAnswer(context, head, which);
    if (action === 'force') {
      const forced = forcedOf(head, which);
      const reason = requireForce(context, { ring, which, reason: args.optionalText('reason') });
      return force(context, head, { ...forced, reason });
    }
    const selected = withSelected(head, which);
    if (action === 'cancel') return cancelAnswer(context, head, selected);
    const named = namedMoves(head.ring, head.ring.moves, selected);
    const requested = action === 'pause' ? await notYetAvailable(head, named) : named;
    const request = { action, moves: requested, reason: null };
    const outcomes = await controlMoves(head.ring, request);
    // Some moves may have completed while servers were being told.
    const moves = action === 'pause' ? await notYetAvailable(head, requested) : requested;
    const available = named.length - moves.length;
    const ended = requested.length - moves.length;
    return controlAnswer(context, head, {
      action,
      moves: moves.length,
      available,
      ended,
      outcomes,
    });
  },
};

/**
 * Returns the moves that are not yet fully copied. Only these can be paused; the others wait for a
 * rollout to finalize them.
 */
async function notYetAvailable(
  { ring, state }: StoredVersion,
  moves: readonly Move[],
): Promise<readonly Move[]> {
  const rows = moveRows(ring, await askMoves(ring, ringTargets(ring, state)));
  const available = new Set(
    rows.filter(({ stage }) => stage === 'available').map(({ assignment }) => assignment),
  );
  return moves.filter(({ assignment }) => !available.has(assignment));
}

async function listMoves(
  context: Context,
  head: StoredVersion,
  which: readonly string[],
): Promise<Answer> {
  const { ring, state } = head;
  const targets = ringTargets(ring, state);
  const statuses = await askMoves(ring, targets);
  const isWanted = isNamed(withSelected(head, which));
  const all = moveRows(ring, statuses);
  const rows = all.filter(isWanted);
  const stuck = stuckOf(head, all, statuses);
  const left = wavesLeft(head, await readLog(context.rings, ring.keyspace), context.nowMs());
  const { movesLeft, movesNotNoted, restsUntil } = left;
  const later = left.waves.map((wave) => wave.filter(isWanted));
  const { keyspace, version } = ring;
  const { rates, unanswered } = ratesBy(targets, statuses);
  const refusing = refusingServers(targets, statuses);
  const silent = unanswered.filter((one) => refusing.every(({ address }) => address !== one));
  const isPaused = all.length > 0 && all.every(({ stage }) => stage === 'paused');
  const clause = rateClause(ratesText(rates, rates.size + unanswered.length), isPaused);
  return {
    json: {
      ...{ ring: keyspace, version, moves: rows, ...ratesJson(rates), unanswered },
      ...{ later, movesLeft, movesNotNoted, restsUntil },
    },
    lines: [
      `${keyspace} version ${version}: ${counted(ring.moves.length, 'move')} in flight`,
      clause !== '' && clause,
      ...silent.map((address) => `${address} did not answer: the state of its moves is unknown`),
      ...silentLines(refusing),
      ...wavesLeftLines(keyspace, left),
      ...(rows.length === 0 ? [] : ['', ...listedMoves(rows)]),
      ...(later.flat().length === 0 ? [] : printMoves({ moves: [], later }, stateOf(head))),
      ...(stuck === null ? [] : ['', stuck.text]),
    ],
    next: context.next(
      isPaused
        ? `moves ${keyspace} resume all`
        : stuck?.isForGood === true
          ? stuck.command
          : all.length + movesLeft > movesNotNoted
            ? `rollout ${keyspace}`
            : `status ${keyspace}`,
    ),
    exit: silentExit(refusing),
  };
}

/** What `force` applies to: moves of the partitions, and refills of partitions without a move. */
interface Forced {
  readonly moves: readonly Move[];
  /** Partitions without a move, whose files are to be completed with the records they have. */
  readonly partitions: readonly number[];
  /**
   * Whether partitions without a move were named, so that at least one must be refilling. False for
   * `all` while moves are in flight.
   */
  readonly isNamed: boolean;
}

/** Validates the words before a reason is required. Throws USAGE, MOVE_UNKNOWN. */
function forcedOf({ ring }: StoredVersion, which: readonly string[]): Forced {
  if (which.length === 0) throw usage('name the partitions by number, or all');
  const moving = new Set(ring.moves.map(({ partition }) => String(partition)));
  if (which.includes('all') && ring.partitions <= movesInFlightMax) {
    const idle = [...Array(ring.partitions).keys()].filter((one) => !moving.has(String(one)));
    return { moves: ring.moves, partitions: idle, isNamed: ring.moves.length === 0 };
  }
  const named = which.filter((word) => word === 'all' || isDeviceWord(word) || moving.has(word));
  const partitions = which
    .filter((word) => !named.includes(word))
    .map((word) => parseNumber(word, 'partition', 'partition'));
  const unknown = partitions.find((partition) => partition >= ring.partitions);
  if (unknown !== undefined)
    throw usage(
      `partition ${unknown}: ${ring.keyspace} has partitions 0 to ${ring.partitions - 1}`,
    );
  const moves = named.length === 0 ? [] : namedMoves(ring, ring.moves, named);
  return { moves, partitions, isNamed: partitions.length > 0 };
}

async function force(
  context: Context,
  head: StoredVersion,
  { moves, partitions, isNamed, reason }: Forced & { readonly reason: string },
): Promise<Answer> {
  const { ring } = head;
  const refills = await forceRefills(ring, { partitions, reason });
  if (isNamed && refills.length === 0) {
    const which =
      partitions.length === ring.partitions
        ? 'any partition'
        : `partition ${partitions.join(', ')}`;
    const message = `no move and no refill of ${which} is in progress`;
    throw new CodedError('MOVE_UNKNOWN', message, {
      hint: `ring-builder reconcile ${ring.keyspace}`,
      details: { ring: ring.keyspace, version: ring.version, partitions },
    });
  }
  const joins = await controlMoves(ring, { action: 'force', moves, reason });
  const count = moves.length + refills.reduce((sum, one) => sum + one.known, 0);
  return controlAnswer(context, head, {
    ...{ action: 'force', moves: count, outcomes: [...joins, ...refills] },
  });
}

async function controlAnswer(
  context: Context,
  head: StoredVersion,
  control: {
    readonly action: MoveAction;
    readonly moves: number;
    /** For pause: moves that were named but have nothing left to copy. */
    readonly available?: number;
    /** Moves that were told to pause but completed meanwhile. */
    readonly ended?: number;
    readonly outcomes: readonly ControlOutcome[];
  },
): Promise<Answer> {
  const { action, moves, available = 0, ended = 0, outcomes: servers } = control;
  const knownCount = servers.reduce((sum, one) => sum + one.known, 0);
  const known = Math.max(0, knownCount - ended);
  const { keyspace, version } = head.ring;
  if (known > 0) {
    const message = `${action}: ${counted(known, 'move')}`;
    await noteControl(context, head, { message, details: { action, moves: known } });
  }
  const failed = servers.filter(({ reason }) => reason !== '');
  const behind = servers.filter((one) => one.reason === '' && one.known < one.moves);
  return {
    json: {
      ...{ ring: keyspace, version, action, moves, known, available, servers },
      changed: known > 0,
    },
    lines: [
      `${action}: ${known} of ${counted(moves, 'move')} of ${keyspace} version ${version}`,
      available > 0 &&
        `${counted(available, 'move')} ${available === 1 ? 'has' : 'have'} already copied everything`,
      action === 'pause' && known > 0 && 'partial files start over after a resume',
      ...failed.map(({ address, reason }) => `${address} was not notified: ${reason}`),
      ...behind.map(({ address }) => `${address} has another version of the ring; push first`),
    ],
    next: context.next(
      behind.length > 0
        ? `push ${keyspace}`
        : action === 'pause' && known > 0
          ? `moves ${keyspace} resume all`
          : `${head.ring.moves.length > 0 ? 'rollout' : 'status'} ${keyspace}`,
    ),
    exit: known < moves || failed.length > 0 ? 4 : 0,
  };
}

/** Throws USAGE without a reason, CONFIRMATION_NEEDED without --yes. */
function requireForce(
  context: Context,
  forced: {
    readonly ring: string;
    readonly which: readonly string[];
    readonly reason: string | undefined;
  },
): string {
  const { ring, which, reason } = forced;
  if (reason === undefined) throw usage('force needs --reason TEXT');
  if (context.yes) return reason;
  const message = `partitions ${which.join(' ')} of ${ring} may lose writes that were acknowledged`;
  throw new CodedError('CONFIRMATION_NEEDED', message, {
    hint: 'bring back one of the devices that have the records, or add --yes',
    details: { ring, partitions: which, reason },
  });
}
