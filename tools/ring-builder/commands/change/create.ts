// ring-builder create: a new ring without devices.
import { counted } from '@ringwright/base/counted';
import { createState } from '@ringwright/builder/state/create-state';
import { createRing } from '@ringwright/repository/create-ring';
import { partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import { parseNumber, text } from '../../cli/arguments.ts';
import { textOption } from '../../cli/option-forms.ts';
import type { Verb } from '../../cli/verb.ts';
import { partitionerOptions, typedPartitioner } from './typed-partitioner.ts';

export const verb: Verb = {
  options: {
    ...partitionerOptions,
    replicas: textOption('devices per partition, such as 3 or 2.5', { demandOption: true }),
    placement: textOption('by weights, or by a clockwise walk over the tokens of devices', {
      choices: ['shares', 'tokens'],
      default: 'shares',
    }),
    'min-part-hours': textOption('hours a partition rests after a move', { default: '0' }),
    overload: textOption('share above its weight for dispersion: 0.1', { default: '0' }),
    cluster: textOption('servers of another cluster refuse it', { default: 'default' }),
  },
  examples: [
    ['$0 create cities --partition-power 8 --replicas 3', '256 partitions, as Swift counts'],
    [
      '$0 create metrics --partitioner murmur3-mod --partitions 4096 --replicas 3',
      'any number of partitions, as M3DB counts',
    ],
    [
      '$0 create users --partitioner hash-intervals --partitions 64 --replicas 3 --hash-key /',
      'all keys of a tenant (what precedes the first /) in one partition, in order',
    ],
    [
      '$0 create places --partitioner ranges --boundaries g,n,t --replicas 3',
      'keys in the order of their bytes; without --boundaries there is one partition',
    ],
  ],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const state = createState({
      ring,
      cluster: text(args, 'cluster'),
      partitioner: typedPartitioner(args),
      replicas: parseNumber(text(args, 'replicas'), 'replicas'),
      ...(text(args, 'placement') === 'tokens' && { placement: 'tokens' as const }),
      minPartHours: parseNumber(text(args, 'min-part-hours'), 'min-part-hours'),
      overload: parseNumber(text(args, 'overload'), 'overload'),
    });
    await createRing(context.rings, state, context.command);
    const { partitioner, replicas } = state;
    const partitions = partitionCountOf(partitioner);
    return {
      json: { ...state, partitions, changed: true },
      lines: [
        `created ring ${ring}: ${counted(partitions, 'partition')} x ${counted(replicas, 'replica')}, no devices`,
      ],
      next: context.next(`add ${ring} r1z1-10.0.0.1:6200/sdb 100 …`),
    };
  },
};
