// ring-builder split: stages several partitions in place of one.
import { splitPartsMax } from '@ringwright/base/limits';
import { requireIntervals } from '@ringwright/builder/state/reshaped-by';
import { parsePosition } from '@ringwright/ring/partitioner/hash-ends';
import type { IntervalPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { equalCuts } from '@ringwright/ring/partitioner/reshape';
import { parseNumber, usage } from '../../cli/arguments.ts';
import { type Command, listOption, textOption } from '../../cli/command.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';

export const command: Command = {
  positionals: {
    partition: { describe: 'number of the partition; ring-builder lookup finds that of a key' },
  },
  options: {
    at: listOption('first keys of the later parts; for hashes, positions such as .25'),
    parts: textOption(`number of equal parts, 2 to ${splitPartsMax}; only for hashes`),
  },
  examples: [
    ['$0 split users 3', 'two halves of the hashes of partition 3'],
    ['$0 split events 0 --at 2026-06 2026-07', 'three ranges of keys in place of one'],
  ],
  run: async (args, context) => {
    const partition = parseNumber(args.text('partition'), 'partition', 'partition');
    const at = args.texts('at');
    const parts = args.optionalNumber('parts');
    if (at.length > 0 && parts !== undefined) throw usage('use --at or --parts, not both');
    if (at.length >= splitPartsMax) {
      throw usage(`${at.length + 1} parts, at most ${splitPartsMax} are allowed at once`);
    }
    return stageAndAnswer(context, args.text('ring'), (state) => {
      const partitioner = requireIntervals(state);
      const cuts =
        at.length === 0 ? equalCuts(partitioner, partition, parts ?? 2) : placesOf(partitioner, at);
      return [{ kind: 'split', partition, at: cuts }];
    });
  },
};

function placesOf({ kind }: IntervalPartitioner, at: readonly string[]): (number | string)[] {
  return kind === 'ranges' ? [...at] : at.map(parsePosition);
}
