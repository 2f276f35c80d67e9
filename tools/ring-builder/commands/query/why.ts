// ring-builder why: which rule placed a slot, which version moved it, what blocks it, and what
// comes next.
import { resultOrError } from '@ringwright/base/coded-error';
import {
  readVersion,
  type StoredVersion,
  stateOf,
} from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import { isRetired, reshapeMappingOf } from '@ringwright/ring/reshape-ring';
import { usage } from '../../cli/arguments.ts';
import { type Answer, type Command, flagOption } from '../../cli/command.ts';
import { preparePlan } from '../../plan/prepare-plan.ts';
import { deviceIdOf } from '../../versions/device-reference.ts';
import { whyDevice } from './why-device.ts';
import { type WhyInput, whyPartition } from './why-partition.ts';

export const command: Command = {
  positionals: {
    what: { describe: 'a partition (12), a device (d3, 10.0.0.1:6200/sdb) or a key' },
  },
  options: {
    'as-key': flagOption('treat it as a key, whatever it looks like'),
  },
  examples: [
    ['$0 why cities 12', 'the slots of partition 12'],
    ['$0 why cities d3', 'what device d3 holds, and why that much'],
    ['$0 why cities DE/Berlin/Berlin', 'the partition of a key'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const opened = await openRing(context.rings, ring);
    const head = await readVersion(context.rings, ring, 'head');
    const what = args.text('what');
    const next = await resultOrError(preparePlan(context, ring, { direct: false }));
    const input = { context, opened, head, next };
    if (args.flag('as-key')) return whyKey(input, what);
    if (/^\d{1,9}$/.test(what)) return whyPartition(input, partitionOf(head, Number(what)), null);
    if (/^d\d{1,9}$/.test(what) || /:\d+\/[^/]+$/.test(what)) {
      return whyDevice(input, deviceIdOf(stateOf(head), what));
    }
    const answer = await whyKey(input, what);
    return { ...answer, lines: [...answer.lines, ...namesakeLines(input, what)] };
  },
};

/**
 * A word that matches no other form is a key, since keys may be any text. Says so if it is also a
 * device's name.
 */
function namesakeLines({ context, head }: WhyInput, word: string): string[] {
  const { keyspace, devices } = head.ring;
  const named = devices.filter((device) => device?.device === word);
  return named.map((device) => {
    const command = context.next(`why ${keyspace} d${device?.id}`);
    return `${word} was treated as a key; a device also has this name: ${command}`;
  });
}

function whyKey(input: WhyInput, key: string): Promise<Answer> {
  const partition = partitionerOf(input.head.ring.partitioner)(Buffer.from(key, 'utf8'));
  return whyPartition(input, partition, key);
}

function partitionOf({ ring }: StoredVersion, partition: number): number {
  if (isRetired(ring)(partition)) {
    throw usage(
      `partition ${partition} of ${ring.keyspace} was split or merged and has no keys any more`,
      `ring-builder table ${ring.keyspace} lists the partitions`,
    );
  }
  const parents = reshapeMappingOf(ring).parents.get(partition);
  if (parents !== undefined && ring.reshape?.kind === 'to') {
    throw usage(
      `partition ${partition} of ${ring.keyspace} is being filled from ${parents.join(', ')} ` +
        'and has no slots of its own yet',
      `ring-builder rollout ${ring.keyspace} finishes it; ` +
        `until then its keys have the slots of ring-builder why ${ring.keyspace} ${parents[0]}`,
    );
  }
  if (partition < ring.partitions) return partition;
  throw usage(
    `partition ${partition} of ${ring.keyspace} does not exist: there are partitions 0 to ${ring.partitions - 1}`,
    `ring-builder why ${ring.keyspace} d0 explains a device, --as-key a key of digits`,
  );
}
