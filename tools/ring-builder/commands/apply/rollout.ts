// ring-builder rollout: drives the moves of the head to their end.
import { counted } from '@ringwright/base/counted';
import { quoteWord } from '@ringwright/base/quote-command';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { type Arguments, usage } from '../../cli/arguments.ts';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  textOption,
} from '../../cli/command.ts';
import { parseWindow } from '../../cli/parse-window.ts';
import { adviceContextOf } from '../../health/advice-context.ts';
import { parseRate } from '../../moves/copy-rates.ts';
import { adviceOn } from '../../servers/advice.ts';
import type { Advice } from '../../servers/advice-rule.ts';
import { deviceStandings, drainedLines } from '../../versions/device-standings.ts';
import { rampLines, rampRows } from '../../versions/ramps.ts';
import { type WavesLeft, wavesLeft, wavesLeftLines } from '../../versions/waves-left.ts';
import { bytesAtOnce, maxBytesOption } from './ask-copy-limits.ts';
import type { RolledOut } from './follow-rollout.ts';
import { type RolloutEnd, type RolloutOptions, type RolloutOutcome, rollOut } from './roll-out.ts';
import { totalsText } from './rollout-totals.ts';

/** A server that restarts and replays its log is back within this time. */
const STALL_SECONDS = 60;

/** Exit code when nothing failed but moves are left: paused, or resting (min_part_hours). */
const EXIT_WAITS = 6;

export const command: Command = {
  options: {
    step: flagOption('stop after each version, to check before the next one'),
    'max-moves': textOption(
      'most moves to copy at once; the others wait until these are finalized',
    ),
    'max-bytes': maxBytesOption,
    waves: textOption('stop after this many versions have finalized moves'),
    rate: textOption(
      'bytes a second that each server may send, and receive, during this rollout, such as 50MB/s',
    ),
    window: textOption(
      'local hours in which new waves may begin, such as 22-6; outside them the rollout only finishes moves in flight',
    ),
    'confirm-drops': flagOption(
      'let servers drop files they hold back because no move explains so many drops',
    ),
    'stall-timeout': textOption(
      `stop after this many seconds without progress (default ${STALL_SECONDS})`,
    ),
    override: textOption('reason to pass the change guard in a later wave or a step of --follow'),
    follow: flagOption(
      'also take the steps of ramps, one after another, while health finds no trouble',
    ),
    'skip-down': flagOption(
      'continue without unreachable servers; they are fenced until they catch up',
    ),
  },
  examples: [
    ['$0 rollout cities', 'push, wait for the copies, finalize, wait for the drops'],
    ['$0 rollout cities --step', 'one version further each time'],
    ['$0 rollout cities --rate 50MB/s', 'limit copies, to leave disks and network to requests'],
    ['$0 rollout cities --max-moves 8 --window 22-6', 'eight moves at once, and only at night'],
    ['$0 rollout cities --follow --window 22-6', 'a ramp to its end, step by step'],
  ],
  run: async (args, context) => {
    const options: RolloutOptions = {
      stallMs: (args.optionalNumber('stall-timeout') ?? STALL_SECONDS) * 1_000,
      skipDown: args.flag('skip-down'),
      confirmDrops: args.flag('confirm-drops'),
      step: args.flag('step'),
      movesMax: args.optionalNumber('max-moves') ?? Number.POSITIVE_INFINITY,
      bytesMax: bytesAtOnce(args),
      wavesMax: args.optionalNumber('waves') ?? Number.POSITIVE_INFINITY,
      rate: rateOf(args),
      window: windowOf(args),
      override: args.optionalText('override') ?? null,
    };
    const rolled = () => rollOutOnce(args, context, options);
    if (!args.flag('follow')) return (await rolled()).answer;
    // Loaded on demand: the steps of --follow are commits, which load the planner.
    const { followRollout } = await import('./follow-rollout.ts');
    return followRollout(context, { ring: args.text('ring'), override: options.override }, rolled);
  },
};

async function rollOutOnce(
  args: Arguments,
  context: Context,
  options: RolloutOptions,
): Promise<RolledOut> {
  const outcome = await rollOut(context, args.text('ring'), options);
  const { head, drains, end } = outcome;
  const entries = await readLog(context.rings, head.ring.keyspace);
  const failures = drains.left.flatMap(({ address, devices, code }) =>
    code === undefined ? [] : [{ address, devices, code }],
  );
  const ramps = head.state === null ? [] : rampRows(head.state, context.nowMs());
  const waits = wavesLeft(head, entries, context.nowMs());
  const answer = rolloutAnswer(context, outcome, {
    typedOptions: givenOptions(args),
    remainderLines: head.state === null ? [] : standingLines(context, head, head.state),
    isRampDue: ramps.some(({ phase }) => phase === 'due'),
    waits,
    advice: adviceOn(await adviceContextOf(context, head), failures),
  });
  return { answer, left: end === 'done' ? { ramps, restsUntil: waits.restsUntil } : null };
}

function rateOf(args: Arguments): number | null {
  const typed = args.optionalText('rate');
  if (typed === undefined) return null;
  const rate = parseRate(typed, '--rate');
  if (rate !== null) return rate;
  const hint = `ring-builder moves ${args.text('ring')} rate none removes a limit`;
  throw usage('--rate none is not possible: a rollout needs a rate, such as 50MB/s', hint);
}

function windowOf(args: Arguments): RolloutOptions['window'] {
  const typed = args.optionalText('window');
  return typed === undefined ? null : parseWindow(typed);
}

export function rolloutAnswer(
  context: Context,
  { head, end: stopped, drains, totals, paused }: RolloutOutcome,
  {
    waits,
    advice,
    typedOptions,
    remainderLines,
    isRampDue,
  }: {
    readonly waits: WavesLeft;
    readonly advice: Advice | null;
    /** The options as typed, for the command that continues. */
    readonly typedOptions: string;
    /** Lines about ramps and drained devices, shown when nothing is left to do. */
    readonly remainderLines: readonly string[];
    readonly isRampDue: boolean;
  },
): Answer {
  const { movesLeft, movesNotNoted, restsUntil, change } = waits;
  const end = stopped === 'done' && restsUntil !== null ? 'resting' : stopped;
  const { moved, bytes, verified, filled, copyMs, versions } = totals;
  const { keyspace, version, moves } = head.ring;
  const seconds = copyMs / 1_000;
  const rate = copyMs === 0 ? 0 : bytes / 1e6 / seconds;
  const { left } = drains;
  const isHeld = left.some((one) => one.isHeld);
  const copied = { partitions: moved - filled.slots, bytes, seconds, mbPerSecond: rate };
  const isIdle = (end === 'done' || end === 'resting') && versions === 0;
  const totalsReport = totalsText(totals);
  const done = `${keyspace} version ${version}: ${totalsReport.all}`;
  return {
    json: {
      ...{ ring: keyspace, version, id: head.id, moved, copied, verified, filled, receipts: moved },
      ...{ left, end, paused, inFlight: moves.length, movesLeft, movesNotNoted, restsUntil },
      changed: versions > 0,
    },
    lines: [
      isIdle ? `${keyspace} version ${version}: nothing is in flight` : done,
      ...totalsReport.lines,
      ...left.map(({ address, partitions, reason }) =>
        partitions === 0
          ? `${address} has not answered: ${reason}`
          : `${address} still holds ${counted(partitions, 'partition')}: ${reason}`,
      ),
      ...wavesLeftLines(keyspace, waits),
      ...endLines[end]({ inFlight: moves.length, paused, isLeftToDown: drains.isLeftToDown }),
      advice?.text,
      ...(end === 'done' ? remainderLines : []),
    ],
    next: context.next(
      advice !== null && !drains.isLeftToDown
        ? advice.command
        : end === 'done' && movesNotNoted > 0
          ? change
          : isHeld
            ? `trash ${keyspace} confirm`
            : end === 'done' && isRampDue
              ? `plan ${keyspace} --step-ramps`
              : drains.isLeftToDown
                ? `servers ${keyspace}`
                : nextCommand(keyspace, end, typedOptions),
    ),
    exit: end === 'paused' || end === 'resting' ? EXIT_WAITS : end === 'drains' ? 4 : 0,
  };
}

interface EndFigures {
  readonly inFlight: number;
  readonly paused: number;
  readonly isLeftToDown: boolean;
}

/** resting: done for now, because the remaining partitions moved too recently. */
type AnsweredEnd = RolloutEnd | 'resting';

const endLines: Readonly<Record<AnsweredEnd, (figures: EndFigures) => readonly string[]>> = {
  done: () => [],
  resting: () => [],
  drains: ({ isLeftToDown }) =>
    isLeftToDown
      ? ['every move is done; those servers drop the remaining files when they are back']
      : [],
  step: ({ inFlight }) => [
    `stopped after one version (--step): ${counted(inFlight, 'move')} in flight`,
  ],
  waves: ({ inFlight }) => [
    `stopped after the requested number of waves: ${counted(inFlight, 'move')} in flight`,
  ],
  paused: ({ paused }) => [
    `${counted(paused, 'move is', 'moves are')} paused; nothing else can be done now`,
  ],
};

function nextCommand(ring: string, end: AnsweredEnd, typedOptions: string): string {
  if (end === 'done') return `servers ${ring}`;
  return end === 'paused' ? `moves ${ring} resume all` : `rollout ${ring}${typedOptions}`;
}

/** Returns the options as typed, without --override, which applies to one wave. */
function givenOptions(args: Arguments): string {
  return Object.entries(command.options ?? {})
    .filter(([name]) => name !== 'override')
    .map(([name, { type }]) => {
      if (type === 'boolean') return args.flag(name) ? ` --${name}` : '';
      const value = args.optionalText(name);
      return value === undefined ? '' : ` --${name} ${quoteWord(value)}`;
    })
    .join('');
}

/** Says what remains of a change that takes several rollouts. */
function standingLines(
  context: Context,
  { ring }: StoredVersion,
  state: BuilderState,
): readonly string[] {
  const { keyspace } = ring;
  const step = context.next(`plan ${keyspace} --step-ramps`);
  const devices = deviceStandings(state, state, ring);
  return [
    ...rampLines(rampRows(state, context.nowMs()), step),
    ...drainedLines(devices, (names) => context.next(`remove ${keyspace} ${names}`)),
  ];
}
