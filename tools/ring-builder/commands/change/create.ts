// ring-builder create: a new ring without devices.
import { counted } from '@ringwright/base/counted';
import { createState } from '@ringwright/builder/state/create-state';
import { createRing } from '@ringwright/repository/create-ring';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import {
  type Arguments,
  optionalNumber,
  optionalText,
  parseNumber,
  text,
  usage,
} from '../../cli/arguments.ts';
import type { Verb } from '../../cli/verb.ts';

const string = { type: 'string', requiresArg: true } as const;

export const verb: Verb = {
  options: {
    'partition-power': { ...string, describe: 'partitions = 2 to this power (md5-shift)' },
    partitions: { ...string, describe: 'number of partitions; a power of two with md5-shift' },
    partitioner: {
      ...string,
      choices: ['md5-shift', 'murmur3-mod'],
      default: 'md5-shift',
      describe: 'which function maps a key to its partition',
    },
    replicas: {
      ...string,
      demandOption: true,
      describe: 'devices per partition, such as 3 or 2.5',
    },
    'min-part-hours': { ...string, default: '0', describe: 'hours a partition rests after a move' },
    overload: { ...string, default: '0', describe: 'share above its weight for dispersion: 0.1' },
    cluster: { ...string, default: 'default', describe: 'servers of another cluster refuse it' },
    'hash-prefix': { ...string, describe: 'text before each key (md5-shift)' },
    'hash-suffix': { ...string, describe: 'text after each key (md5-shift)' },
  },
  examples: [
    ['$0 create cities --partition-power 8 --replicas 3', '256 partitions, as Swift counts'],
    [
      '$0 create metrics --partitioner murmur3-mod --partitions 4096 --replicas 3',
      'any number of partitions, as M3DB counts',
    ],
  ],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const state = createState({
      ring,
      cluster: text(args, 'cluster'),
      partitioner: partitionerOf(args),
      replicas: parseNumber(text(args, 'replicas'), 'replicas'),
      minPartHours: parseNumber(text(args, 'min-part-hours'), 'min-part-hours'),
      overload: parseNumber(text(args, 'overload'), 'overload'),
    });
    await createRing(context.rings, state, context.command);
    const { partitioner, replicas } = state;
    const partitions =
      partitioner.kind === 'md5-shift' ? 2 ** partitioner.power : partitioner.partitions;
    return {
      json: { ...state, partitions, changed: true },
      lines: [
        `created ring ${ring}: ${counted(partitions, 'partition')} x ${counted(replicas, 'replica')}, no devices`,
      ],
      next: context.next(`add ${ring} r1z1-10.0.0.1:6200/sdb 100 …`),
    };
  },
};

function partitionerOf(args: Arguments): Partitioner {
  const power = optionalNumber(args, 'partition-power');
  const partitions = optionalNumber(args, 'partitions');
  if ((power === undefined) === (partitions === undefined)) {
    const found = power === undefined ? 'neither' : 'both';
    throw usage(`${found} of --partition-power and --partitions given, wanted one`);
  }
  const [prefix, suffix] = [optionalText(args, 'hash-prefix'), optionalText(args, 'hash-suffix')];
  if (text(args, 'partitioner') === 'murmur3-mod') {
    if (prefix !== undefined || suffix !== undefined) {
      throw usage('--hash-prefix and --hash-suffix are settings of md5-shift, not of murmur3-mod');
    }
    return { kind: 'murmur3-mod', partitions: partitions ?? 2 ** (power ?? 0), seed: 0 };
  }
  const exponent = power ?? Math.log2(partitions ?? 0);
  if (power === undefined && !Number.isInteger(exponent)) {
    throw usage(
      `--partitions ${partitions} is not a power of two, which md5-shift needs`,
      'add --partitioner murmur3-mod, or give --partition-power',
    );
  }
  return { kind: 'md5-shift', power: exponent, prefix: hex(prefix), suffix: hex(suffix) };
}

function hex(value = ''): string {
  return Buffer.from(value, 'utf8').toString('hex');
}
