// ring-builder list-parts: lists the partitions that devices hold, with the number of replicas.
import { counted } from '@ringwright/base/counted';
import { readVersion, stateOf } from '@ringwright/repository/folder/read-version';
import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import type { Command } from '../../cli/command.ts';
import { deviceIdsOf, devicesHelp } from '../../versions/device-reference.ts';

interface HeldPartition {
  readonly partition: number;
  /** The requested devices that hold the partition, by replica index. */
  readonly slots: readonly { readonly replica: number; readonly device: number }[];
}

export const command: Command = {
  positionals: { devices: { describe: devicesHelp } },
  examples: [
    ['$0 list-parts cities d3', 'the partitions of a device'],
    ['$0 list-parts cities r1z2', 'those of a zone; 2: the zone has two of the replicas'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const head = await readVersion(context.rings, ring, 'head');
    const devices = deviceIdsOf(stateOf(head), args.texts('devices'));
    const partitions = partitionsOf(head.ring, new Set(devices));
    const { version } = head.ring;
    return {
      json: { ring, version, devices, partitions },
      lines: [
        `# ${ring} version ${version}: partition, then its replicas on ${devices.map((id) => `d${id}`).join(' ')}`,
        ...partitions.map(({ partition, slots }) => `${partition} ${slots.length}`),
        `# ${counted(partitions.length, 'partition')} of ${liveCountOf(head.ring.partitioner)}`,
      ],
      next: context.next(`why ${ring} ${partitions[0]?.partition ?? 0}`),
    };
  },
};

function partitionsOf({ table, partitions }: Ring, devices: ReadonlySet<number>): HeldPartition[] {
  const held: HeldPartition[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    const slots = table.flatMap((row, replica) => {
      const device = row[partition];
      return device !== undefined && devices.has(device) ? [{ replica, device }] : [];
    });
    if (slots.length > 0) held.push({ partition, slots });
  }
  return held;
}
