// ring-builder table: prints the whole table of a version.
import { intervalJson, intervalsOf, intervalText } from '@ringwright/ring/partitioner/intervals-of';
import { isIntervals } from '@ringwright/ring/partitioner/partitioner';
import { isRetired } from '@ringwright/ring/reshape-ring';
import { deviceIn } from '@ringwright/ring/ring';
import type { Command } from '../../cli/command.ts';
import { askedVersion, versionPositional } from '../../versions/version-reference.ts';

export const command: Command = {
  positionals: versionPositional,
  examples: [['$0 table cities --json', 'for scripts: table[replica][partition] = device id']],
  run: async (args, context) => {
    const name = args.text('ring');
    const { ring, id } = await askedVersion(args, context);
    const { version, partitioner, partitions, replicas, devices, moves } = ring;
    const intervals = isIntervals(partitioner) ? intervalsOf(partitioner) : null;
    const texts = new Map(intervals?.map((one) => [one.id, ` ${intervalText(one)}`]));
    // Null in the column of a partition that takes no keys.
    const table = ring.table.map((row) => Array.from(row, (_, at) => deviceIn(row, at) ?? null));
    const isGone = isRetired(ring);
    const columns = Array.from({ length: partitions }, (_, partition) =>
      ring.table.flatMap((row) => deviceIn(row, partition) ?? []).join(' '),
    );
    return {
      json: {
        ring: name,
        version,
        id,
        partitioner,
        partitions,
        replicas,
        ...(intervals !== null && { intervals: intervals.map(intervalJson) }),
        devices,
        table,
        moves,
      },
      lines: [
        `# ${name} version ${version}: partition, then device ids in replica order${intervals === null ? '' : ', then its interval'}`,
        ...columns.flatMap((ids, partition) =>
          isGone(partition) ? [] : `${partition} ${ids}${texts.get(partition) ?? ''}`,
        ),
        ...moves.map(
          ({ partition, replica, from, to, state }) =>
            `# moving: partition ${partition} replica ${replica} from ${from} to ${to}, ${state}`,
        ),
      ],
      next: context.next(`show ${name} ${version}`),
    };
  },
};
