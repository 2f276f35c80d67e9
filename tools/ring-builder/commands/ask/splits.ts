// ring-builder splits: partitions that are too large, too busy or too small, and what to type.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { busyRateMin, splitsProposedMax } from '@ringwright/base/limits';
import {
  mergeShareMax,
  proposeSplits,
  type ReshapeProposal,
  type SplitLimits,
} from '@ringwright/builder/ask/propose-splits';
import { gatherPins } from '@ringwright/builder/plan/gather-pins';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { requireIntervals } from '@ringwright/builder/state/reshaped-by';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { positionText } from '@ringwright/ring/partitioner/hash-ends';
import { intervalsOf } from '@ringwright/ring/partitioner/intervals-of';
import type { IntervalPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { mergeIntervals } from '@ringwright/ring/partitioner/reshape';
import { holderIn, type Ring } from '@ringwright/ring/ring';
import {
  type Arguments,
  flag,
  optionalNumber,
  optionalText,
  text,
  usage,
} from '../../cli/arguments.ts';
import { flagOption, textOption } from '../../cli/option-forms.ts';
import { parseBytes, printBytes } from '../../cli/print-bytes.ts';
import type { Answer, Context, Verb } from '../../cli/verb.ts';
import { requireSizes } from '../../plan/measure-sizes.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { serverStatus } from '../../servers/server-status.ts';
import { stageAndAnswer } from '../../versions/stage-verb.ts';
import { stateOf } from '../../versions/state-of-version.ts';
import { type FoundSplits, splitsAhead } from './splits-ahead.ts';

interface Head {
  readonly ring: Ring;
  readonly state: BuilderState;
}

interface Proposal {
  readonly why: string;
  /** Null: it cannot be staged like this. */
  readonly change: Change | null;
  /** What to type, or what is in the way. */
  readonly command: string;
  readonly proposal: ReshapeProposal;
}

export const verb: Verb = {
  options: {
    'split-above': textOption('a partition whose values have more is split', { default: '512MiB' }),
    'split-busier': textOption(
      `a partition with so many times the requests of the mean one is split (from ${busyRateMin} a second on)`,
      { default: '4' },
    ),
    'merge-below': textOption('two neighbours that have less are merged (an eighth of that)'),
    most: textOption(`so many at once (default ${splitsProposedMax})`),
    ahead: textOption('cuts for keys that grow with time: one at each 30m, 4h, 1d …, from now on'),
    until: textOption('with --ahead: no cut at this time or later, such as 2026-12-01'),
    keys: textOption('with --ahead: what keys look like; {iso}, {unix} or {unix-ms} is the time', {
      default: '{iso}',
    }),
    stage: flagOption('stages them; those that have to come together first are left out'),
  },
  examples: [
    ['$0 splits events', 'what is too large or too small, why, and what to type'],
    ['$0 splits events --split-above 2GiB --stage', 'and stages it'],
    ['$0 splits events --split-busier 8', 'only what gets eight times the requests of the mean'],
    ['$0 splits events --ahead 1d --until 2026-12-24 --stage', 'a partition for each day to come'],
  ],
  run: async (args, context) => {
    const name = text(args, 'ring');
    const ahead = optionalText(args, 'ahead');
    if (ahead !== undefined)
      return answerOf(args, context, await splitsAhead(args, context, ahead));
    const above = parseBytes(optionalText(args, 'split-above') ?? '', '--split-above');
    const below = belowOf(optionalText(args, 'merge-below'), above);
    const times = timesOf(optionalText(args, 'split-busier') ?? '');
    const busier = { times, least: busyRateMin };
    const most = optionalNumber(args, 'most') ?? splitsProposedMax;
    const limits = { above, below, busy: busier, most };
    const stored = await readVersion(context.rings, name, 'head');
    const { ring } = stored;
    const head = { ring, state: stateOf(stored) };
    if (ring.moves.length > 0) throw busy(ring);
    const known = await requireSizes(ring, head.state);
    const proposals: Proposal[] = [];
    const load = { bytesOf: known.valueBytes, rateOf: known.requestRate };
    const partitioner = intervalsIn(head);
    for (const one of proposeSplits(partitioner, load, limits)) {
      proposals.push(await proposalOf(head, one, limits));
    }
    const changes = proposals.flatMap(({ change }) => change ?? []);
    const uncounted = intervalsOf(partitioner).filter(
      ({ id }) => known.requestRate(id) === null,
    ).length;
    const lines = linesOf(name, proposals, { ...limits, away: known.away.length, uncounted });
    const shown = proposals.map(({ proposal, why, command }) => ({ ...proposal, why, command }));
    const { asked, answered } = known;
    const json = { ring: name, ...limits, asked, answered, proposals: shown };
    return answerOf(args, context, { changes, json, lines, staging: `splits ${name} --stage` });
  },
};

async function answerOf(args: Arguments, context: Context, found: FoundSplits): Promise<Answer> {
  const { changes, json, lines, staging } = found;
  const ring = text(args, 'ring');
  if (!flag(args, 'stage') || changes.length === 0) {
    const next = context.next(changes.length > 0 ? staging : `status ${ring}`);
    return { json: { ...json, changed: false }, lines, next };
  }
  const answer = await stageAndAnswer(context, ring, () => changes);
  const staged = answer.json as Readonly<Record<string, unknown>>;
  return { ...answer, json: { ...json, ...staged }, lines: [...lines, ...answer.lines] };
}

function intervalsIn({ ring, state }: Head): IntervalPartitioner {
  return requireIntervals({ ...state, partitioner: ring.partitioner });
}

function linesOf(
  ring: string,
  proposals: readonly Proposal[],
  {
    above,
    below,
    away,
    uncounted,
  }: Pick<SplitLimits, 'above' | 'below'> & {
    readonly away: number;
    /** Partitions whose requests nobody told. */
    readonly uncounted: number;
  },
): string[] {
  const silent = `${counted(away, 'server says', 'servers say')} nothing: others told the sizes`;
  const early =
    `requests of ${counted(uncounted, 'partition is', 'partitions are')} not known yet: servers ` +
    'count for a minute first, and what may be busy is not merged';
  const large = `no partition has more than ${printBytes(above)}`;
  const small = `no two neighbours have less than ${printBytes(below)} each`;
  const busy = 'none is much busier than the others';
  return [
    ...(away > 0 ? [silent] : []),
    ...(uncounted > 0 ? [early] : []),
    ...(proposals.length === 0 ? [`${ring}: ${large}, ${busy}, ${small}`] : []),
    ...proposals.map(({ why, command }) => `${why}: ${command}`),
  ];
}

function timesOf(typed: string): number {
  const times = Number(typed);
  if (times >= 2) return times;
  throw usage(`--split-busier ${typed} is no number of 2 or more: halves would be split again`);
}

function belowOf(typed: string | undefined, above: number): number {
  const most = Math.floor(above * mergeShareMax);
  if (typed === undefined) return most;
  const below = parseBytes(typed, '--merge-below');
  if (below <= most) return below;
  throw usage(
    `--merge-below ${typed} is more than an eighth of --split-above, ${printBytes(most)}: what ` +
      'is split could be merged again',
  );
}

async function proposalOf(
  head: Head,
  proposal: ReshapeProposal,
  { above, below }: { readonly above: number; readonly below: number },
): Promise<Proposal> {
  const { ring, state } = head;
  const { keyspace } = ring;
  if (proposal.kind === 'merge') {
    const bytes = printBytes(proposal.bytes);
    const { partitions } = proposal;
    const named = `partitions ${partitions.join(' and ')}`;
    const why = `${named} have ${bytes} together, below ${printBytes(below)} each`;
    const command = `ring-builder merge ${keyspace} ${partitions.join(' ')}`;
    const merged = mergeIntervals(intervalsIn(head), ...partitions);
    const isApart = gatherPins(ring, state, merged).length > 0;
    return { proposal, why, command, change: isApart ? null : { kind: 'merge', partitions } };
  }
  const { partition } = proposal;
  const why = whySplit(proposal, above);
  const middle = await middleOf(ring, partition);
  if (middle === null)
    return { proposal, why, change: null, command: 'no holder tells its middle' };
  if (Math.min(middle.share, 1 - middle.share) < unevenShare) {
    const command = 'one key, or one tag, has nearly all of it: no split helps';
    return { proposal, why, change: null, command };
  }
  const { at } = middle;
  const typed = typeof at === 'number' ? positionText(at) : at;
  const command = `ring-builder split ${keyspace} ${partition} --at ${typed}`;
  return { proposal, why, command, change: { kind: 'split', partition, at: [at] } };
}

function whySplit(
  { partition, bytes, busy: rates }: Extract<ReshapeProposal, { kind: 'split' }>,
  above: number,
): string {
  if (rates === null) {
    return `partition ${partition} has ${printBytes(bytes)}, above ${printBytes(above)}`;
  }
  const [rate, mean] = [Math.round(rates.rate), Math.round(rates.mean)];
  return `partition ${partition} gets ${rate} requests a second, the mean one ${mean}`;
}

/** A part that is smaller than this of the whole is not worth a split. */
const unevenShare = 0.05;

async function middleOf(ring: Ring, partition: number) {
  const holders = new Set(ring.table.map((row) => holderIn(row, partition)));
  const targets = ringTargets(ring, null).filter(({ devices }) =>
    devices.some((id) => holders.has(id)),
  );
  for (const { address } of targets) {
    const said = await serverStatus(address, { middleOf: `${ring.keyspace}/${partition}` }).catch(
      () => null,
    );
    if (said?.middle) return said.middle;
  }
  return null;
}

function busy({ keyspace, version, moves }: Ring): CodedError {
  const what = counted(moves.length, 'move');
  const message = `version ${version} of ${keyspace} has ${what} in flight`;
  return new CodedError('MOVES_IN_FLIGHT', message, {
    hint: `run ring-builder rollout ${keyspace}: sizes are told of what lies still`,
    details: { version, moves: moves.length },
  });
}
