// ring-builder merge: stages one partition in place of two neighbors.
import { parseNumber } from '../../cli/arguments.ts';
import type { Command } from '../../cli/command.ts';
import { stageReshape } from '../../versions/stage-reshape.ts';

export const command: Command = {
  positionals: {
    partition: { describe: 'number of the partition; ring-builder table lists them in order' },
    other: { describe: 'number of the partition before or after it' },
  },
  examples: [['$0 merge users 4 5', 'one partition in place of partitions 4 and 5']],
  run: async (args, context) => {
    const number = (name: 'partition' | 'other'): number =>
      parseNumber(args.text(name), name, 'partition');
    const partitions = [number('partition'), number('other')] as const;
    const ring = args.text('ring');
    return stageReshape(context, ring, {
      change: { kind: 'merge', partitions },
      again: `merge ${ring} ${partitions.join(' ')}`,
    });
  },
};
