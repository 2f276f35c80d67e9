// ring-builder splits: finds partitions that are too large, too busy or too small, and the commands
// to type.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { busyRateMin, splitsProposedMax } from '@ringwright/base/limits';
import { quoteCommand } from '@ringwright/base/quote-command';
import {
  mergeShareMax,
  proposeSplits,
  type SplitLimits,
  smallNeighbours,
} from '@ringwright/builder/analysis/propose-splits';
import { readVersion, stateOf } from '@ringwright/repository/folder/read-version';
import { intervalsOf } from '@ringwright/ring/partitioner/intervals-of';
import type { Ring } from '@ringwright/ring/ring';
import { type Arguments, usage } from '../../cli/arguments.ts';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  type Lines,
  textOption,
} from '../../cli/command.ts';
import { parseBytes, printBytes } from '../../cli/print-bytes.ts';
import { type ReportedSizes, requireSizes } from '../../plan/known-sizes.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';
import { type Head, intervalsIn, type Proposal, proposalOf } from './split-proposal.ts';
import { type FoundSplits, splitsAhead } from './splits-ahead.ts';

export const command: Command = {
  options: {
    'split-above': textOption('split partitions with more bytes of values than this', {
      default: '512MiB',
    }),
    'split-busier': textOption(
      `split partitions with this many times the average requests (at least ${busyRateMin} a second)`,
      { default: '4' },
    ),
    'merge-below': textOption(
      'merge two neighbors that have less than this (default: an eighth of --split-above)',
    ),
    most: textOption(`the most proposals at once (default ${splitsProposedMax})`),
    ahead: textOption(
      'for keys that grow with time: split ahead, every 30m, 4h, 1d …, from now on',
    ),
    until: textOption('with --ahead: split only before this time, such as 2026-12-01'),
    keys: textOption(
      'with --ahead: the form of keys, where {iso}, {unix} or {unix-ms} is the time',
      {
        default: '{iso}',
      },
    ),
    stage: flagOption('stage the proposals, except merges of partitions on different devices'),
  },
  examples: [
    ['$0 splits events', 'what is too large or too small, why, and what to type'],
    ['$0 splits events --split-above 2GiB --stage', 'the same, and stage it'],
    [
      '$0 splits events --split-busier 8',
      'split only partitions with eight times the average requests',
    ],
    ['$0 splits events --ahead 1d --until 2026-12-24 --stage', 'a partition for each future day'],
  ],
  run: async (args, context) => {
    const ahead = args.optionalText('ahead');
    const found =
      ahead === undefined ? splitsNow(args, context) : splitsAhead(args, context, ahead);
    return answerOf(args, context, await found);
  },
};

async function splitsNow(args: Arguments, context: Context): Promise<FoundSplits> {
  const name = args.text('ring');
  const limits = limitsOf(args);
  const stored = await readVersion(context.rings, name, 'head');
  const { ring } = stored;
  const head = { ring, state: stateOf(stored) };
  if (ring.moves.length > 0) throw busy(ring);
  const known = await requireSizes(ring, head.state);
  const load = { bytesOf: known.valueBytes, rateOf: known.requestRate };
  const proposals: Proposal[] = [];
  for (const one of proposeSplits(intervalsIn(head), load, limits)) {
    proposals.push(await proposalOf(head, one, limits));
  }
  const changes = proposals.flatMap(({ change }) => change ?? []);
  const rows = proposals.map(({ proposal, why, command }) => ({ ...proposal, why, command }));
  const { asked, answered } = known;
  const [merge] = proposals.flatMap(({ proposal }) => (proposal.kind === 'merge' ? proposal : []));
  const ofMerge = merge && `merge ${name} ${merge.partitions.join(' ')}`;
  return {
    changes,
    json: { ring: name, ...limits, asked, answered, proposals: rows },
    lines: [
      ...measuredLines(head, known),
      proposals.length === 0 && `${name}: ${noneText(head, known, limits)}`,
      ...proposals.map(({ why, command }) => `${why}: ${command}`),
    ],
    staging: quoteCommand(['splits', name, ...typedLimits(args), '--stage']),
    ...(changes.length === 0 && proposals.length > 0 && { instead: ofMerge ?? `status ${name}` }),
  };
}

/** Returns the limits as typed, so that --stage finds the same proposals. */
function typedLimits(args: Arguments): string[] {
  return ['split-above', 'split-busier', 'merge-below', 'most'].flatMap((name) => {
    const value = args.optionalText(name);
    const isUsual = value === undefined || value === command.options?.[name]?.default;
    return isUsual ? [] : [`--${name}`, value];
  });
}

const nothingStaged = 'nothing was staged: none of these proposals can be staged directly';

async function answerOf(args: Arguments, context: Context, found: FoundSplits): Promise<Answer> {
  const { changes, json, lines, staging, instead } = found;
  const ring = args.text('ring');
  const isStaged = args.flag('stage');
  if (!isStaged || changes.length === 0) {
    const next = context.next(changes.length > 0 ? staging : (instead ?? `status ${ring}`));
    const why = isStaged && instead !== undefined ? [nothingStaged] : [];
    return { json: { ...json, changed: false }, lines: [...lines, ...why], next };
  }
  const answer = await stageAndAnswer(context, ring, () => changes);
  const staged = answer.json as Readonly<Record<string, unknown>>;
  return { ...answer, json: { ...json, ...staged }, lines: [...lines, ...answer.lines] };
}

/** Says what servers did not report. */
function measuredLines(head: Head, { away, requestRate }: ReportedSizes): Lines {
  const uncounted = intervalsOf(intervalsIn(head)).filter(({ id }) => requestRate(id) === null);
  const silentCount = counted(away.length, 'server did', 'servers did');
  const silent = `${silentCount} not answer: sizes are from the others`;
  const early =
    `requests of ${counted(uncounted.length, 'partition')} are not known yet: ` +
    'servers need a minute to count them, and partitions that may be busy are not merged';
  return [away.length > 0 && silent, uncounted.length > 0 && early];
}

/** Says why nothing is proposed. */
function noneText(
  head: Head,
  { valueBytes, requestRate }: ReportedSizes,
  { above, below }: SplitLimits,
): string {
  const pairs = smallNeighbours(intervalsIn(head), valueBytes, below);
  const isUnknown = pairs.some((pair) => pair.some((id) => requestRate(id) === null));
  const less = `less than ${printBytes(below)}`;
  const small =
    pairs.length === 0
      ? `no two neighbors have ${less} each`
      : `neighbors with ${less} each ${isUnknown ? 'may be' : 'are'} too busy for a merge`;
  return [
    `no partition has more than ${printBytes(above)}`,
    `none is ${isUnknown ? 'known to be ' : ''}much busier than the others`,
    small,
  ].join(', ');
}

function limitsOf(args: Arguments): SplitLimits {
  const above = parseBytes(args.optionalText('split-above') ?? '', '--split-above');
  const below = belowOf(args.optionalText('merge-below'), above);
  const times = timesOf(args.optionalText('split-busier') ?? '');
  const most = args.optionalNumber('most') ?? splitsProposedMax;
  return { above, below, busy: { times, least: busyRateMin }, most };
}

function timesOf(typed: string): number {
  const times = Number(typed);
  if (times >= 2) return times;
  throw usage(
    `--split-busier ${typed} must be a number of at least 2: otherwise the halves would be split again`,
  );
}

function belowOf(typed: string | undefined, above: number): number {
  const limit = Math.floor(above * mergeShareMax);
  if (typed === undefined) return limit;
  const below = parseBytes(typed, '--merge-below');
  if (below <= limit) return below;
  throw usage(
    `--merge-below ${typed} is more than an eighth of --split-above, ${printBytes(limit)}: what ` +
      'is split could be merged again',
  );
}

function busy({ keyspace, version, moves }: Ring): CodedError {
  const what = counted(moves.length, 'move');
  const message = `version ${version} of ${keyspace} has ${what} in flight`;
  return new CodedError('MOVES_IN_FLIGHT', message, {
    hint: `run ring-builder rollout ${keyspace} first: sizes of moving partitions are not known`,
    details: { version, moves: moves.length },
  });
}
