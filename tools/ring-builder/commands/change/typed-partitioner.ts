// Builds the partitioner from the options of `create`. Pure.
import { parsePosition, randomEnds } from '@ringwright/ring/partitioner/hash-ends';
import { keyOfText, keyText } from '@ringwright/ring/partitioner/key-text';
import {
  braceTag,
  type HashIntervalsPartitioner,
  type IntervalHash,
  intervalHashes,
  type Partitioner,
  type RangesPartitioner,
} from '@ringwright/ring/partitioner/partitioner';
import { type Arguments, usage } from '../../cli/arguments.ts';
import { textOption } from '../../cli/command.ts';

const kinds = ['md5-shift', 'murmur3-mod', 'hash-intervals', 'ranges'] as const;

export const partitionerOptions = {
  'partition-power': textOption('number of partitions, as a power of 2 (not for ranges)'),
  partitions: textOption('number of partitions; a power of two with md5-shift'),
  partitioner: textOption('which function maps a key to its partition', {
    choices: kinds,
    default: 'md5-shift',
  }),
  'hash-prefix': textOption('text before each key (md5-shift)'),
  'hash-suffix': textOption('text after each key (md5-shift)'),
  hash: textOption('which 32-bit hash (hash-intervals); default: murmur3', {
    choices: intervalHashes,
  }),
  'hash-key': textOption(
    `hash only the text before this one; ${braceTag}, literally: the text in braces (hash-intervals)`,
  ),
  tokens: textOption(
    'ends of intervals: 0,.25,.5 or random:SEED (hash-intervals); default: equal intervals',
  ),
  boundaries: textOption(
    'starts of all ranges but the first: g,n,t; write a comma in a key as %2C (ranges)',
  ),
} as const;

/** Options that only some partitioners have. */
const owners: Readonly<Record<string, readonly string[]>> = {
  'hash-prefix': ['md5-shift'],
  'hash-suffix': ['md5-shift'],
  hash: ['hash-intervals'],
  'hash-key': ['hash-intervals'],
  tokens: ['hash-intervals'],
  boundaries: ['ranges'],
};

/** Throws USAGE; INTERVALS_INVALID and KEY_INVALID for an invalid boundary. */
export function typedPartitioner(args: Arguments): Partitioner {
  const kind = args.text('partitioner');
  for (const [name, allowed] of Object.entries(owners)) {
    if (!args.has(name) || allowed.includes(kind)) continue;
    throw usage(`--${name} is an option for ${allowed.join(' and ')}, not for ${kind}`);
  }
  if (kind === 'ranges') return typedRanges(args);
  if (kind === 'hash-intervals') return typedIntervals(args);
  const count = typedCount(args);
  if (kind === 'murmur3-mod') return { kind, partitions: count, seed: 0 };
  const power = Math.log2(count);
  if (!Number.isInteger(power)) {
    throw usage(
      `--partitions ${count} is not a power of two, which md5-shift needs`,
      'add --partitioner murmur3-mod, or use --partition-power',
    );
  }
  const [prefix, suffix] = [args.optionalText('hash-prefix'), args.optionalText('hash-suffix')];
  return { kind: 'md5-shift', power, prefix: hex(prefix), suffix: hex(suffix) };
}

function typedCount(args: Arguments): number {
  const power = args.optionalNumber('partition-power');
  const partitions = args.optionalNumber('partitions');
  if (power !== undefined && partitions === undefined) return 2 ** power;
  if (partitions !== undefined && power === undefined) return partitions;
  const found = power === undefined ? 'neither' : 'both';
  throw usage(`${found} of --partition-power and --partitions given, expected one`);
}

function typedIntervals(args: Arguments): HashIntervalsPartitioner {
  // yargs accepts only the choices.
  const hash = (args.optionalText('hash') ?? 'murmur3') as IntervalHash;
  const hashKey = args.optionalText('hash-key');
  const settings = {
    kind: 'hash-intervals',
    hash,
    ...(hashKey !== undefined && { hashKey }),
  } as const;
  const tokens = args.optionalText('tokens');
  if (tokens === undefined) return { ...settings, partitions: typedCount(args) };
  const seed = /^random:(\d{1,10})$/.exec(tokens)?.[1];
  if (seed !== undefined) {
    const partitions = typedCount(args);
    return { ...settings, partitions, ends: randomEnds(partitions, Number(seed)) };
  }
  refuseCount(args, '--tokens', 'lists the ends of all partitions');
  const ends = tokens.split(',').map(parsePosition);
  return { ...settings, partitions: ends.length, ends };
}

/** A new ring of ranges has one partition unless boundaries are typed. */
function typedRanges(args: Arguments): RangesPartitioner {
  refuseCount(args, '--partitioner ranges', 'has as many partitions as --boundaries defines');
  const boundaries = args.optionalText('boundaries');
  const starts =
    boundaries === undefined ? [] : boundaries.split(',').map((key) => keyText(keyOfText(key)));
  return { kind: 'ranges', partitions: starts.length + 1, starts };
}

function refuseCount(args: Arguments, option: string, why: string): void {
  const name = ['partition-power', 'partitions'].find((one) => args.has(one));
  if (name !== undefined) throw usage(`--${name} cannot be used with ${option}, which ${why}`);
}

function hex(value = ''): string {
  return Buffer.from(value, 'utf8').toString('hex');
}
