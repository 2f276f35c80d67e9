// ring-builder set: stages other settings of the ring.
import { type CodedError, resultOrErrorOf } from '@ringwright/base/coded-error';
import { checkReplicaStep } from '@ringwright/builder/placement/change-replicas';
import type { Change } from '@ringwright/builder/state/change';
import { headOf, readLog, requireHead } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';
import { type Arguments, usage } from '../../cli/arguments.ts';
import { type Command, type Context, flagOption, textOption } from '../../cli/command.ts';
import { measureSizes } from '../../plan/known-sizes.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';
import { stageReshape } from '../../versions/stage-reshape.ts';

export const command: Command = {
  options: {
    replicas: textOption(
      'replicas of each partition; 2.5: three for every second partition, two for the others',
    ),
    'min-part-hours': textOption('hours before a partition may move again; 0: no limit'),
    'zones-min': textOption('least number of zones of every partition; 0: no rule'),
    'pretend-min-part-hours-passed': flagOption(
      'treat all versions up to the head as old enough to move again',
    ),
    'partition-power': textOption(
      'split or merge all partitions, to 2 to this power, while the ring is in use',
    ),
    balance: textOption(
      'bytes: also even out bytes, by sizes measured now (role metrics); counts: stop that',
      {
        choices: ['bytes', 'counts'],
      },
    ),
    'swap-budget': textOption('with --balance bytes: most extra moves in a version', {
      default: '0',
    }),
    overload: textOption('how far a device may exceed its share for dispersion: 0.1 is 10 %'),
  },
  examples: [
    ['$0 set cities --replicas 2.5', 'half of the partitions get a third replica'],
    ['$0 set cities --partition-power 9', 'split every partition in two, from 2^8 to 2^9'],
    [
      '$0 set cities --balance bytes',
      'of the tables with the fewest moves, choose an even one by bytes',
    ],
    ['$0 set cities --overload 0.1', 'devices may hold 10 % more than their share'],
  ],
  run: async (args, context) => {
    const replicas = args.optionalNumber('replicas');
    const minPartHours = args.optionalNumber('min-part-hours');
    const overload = args.optionalNumber('overload');
    const partitionPower = args.optionalNumber('partition-power');
    const zonesMin = args.optionalNumber('zones-min');
    const ring = args.text('ring');
    const restedThrough = args.flag('pretend-min-part-hours-passed')
      ? requireHead(ring, await readLog(context.rings, ring)).version
      : undefined;
    const sizes = await askedSizes(args, context);
    const typed = {
      ...{ replicas, minPartHours, overload, zonesMin, restedThrough, partitionPower },
      sizes,
    };
    const named = Object.entries(typed).filter(([, value]) => value !== undefined);
    if (named.length === 0)
      throw usage('nothing to set', `ring-builder set ${ring} --overload 0.1`);
    const settings: Extract<Change, { kind: 'set' }>['settings'] = Object.fromEntries(named);
    if (partitionPower !== undefined) {
      if (named.length > 1) throw usage('--partition-power must be the only option');
      const again = `set ${ring} --partition-power ${partitionPower}`;
      return stageReshape(context, ring, { change: { kind: 'set', settings }, again });
    }
    const answer = await stageAndAnswer(context, ring, () => [{ kind: 'set', settings }]);
    const tooFar = replicas === undefined ? null : await replicasTooFar(context, ring, replicas);
    if (tooFar === null) return answer;
    const lines = [...answer.lines, `a commit will refuse this: ${tooFar.message}`, tooFar.hint];
    return { ...answer, lines };
  },
};

/** Returns null for `counts`, undefined without the option. */
async function askedSizes(args: Arguments, context: Context) {
  const balance = args.optionalText('balance');
  const swapBudget = args.optionalNumber('swap-budget') ?? 0;
  if (balance === 'bytes') return measureSizes(context, args.text('ring'), swapBudget);
  if (swapBudget > 0) throw usage('--swap-budget needs --balance bytes, which measures sizes');
  return balance === 'counts' ? null : undefined;
}

/**
 * Returns the error with which plan and commit will refuse a change of more replicas than one
 * version can make, or null.
 */
async function replicasTooFar(
  { rings }: Context,
  ring: string,
  replicas: number,
): Promise<CodedError | null> {
  const entries = await readLog(rings, ring);
  if (headOf(entries) === null) return null;
  const { ring: head } = await readVersion(rings, ring, 'head');
  // Columns of partitions that were split have no slots and do not count.
  const live = { partitions: liveCountOf(head.partitioner), replicas: head.replicas };
  return resultOrErrorOf(() => checkReplicaStep({ head: live, state: { ring, replicas } })) ?? null;
}
