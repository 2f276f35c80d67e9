// ring-builder pin: stages devices that must, or must not, hold a partition.
import { parseNumber, usage } from '../../cli/arguments.ts';
import { type Command, listOption } from '../../cli/command.ts';
import { deviceIdsOf } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';

export const command: Command = {
  positionals: {
    partition: { describe: 'number of the partition; ring-builder lookup finds that of a key' },
  },
  options: {
    on: listOption('devices that must hold the partition'),
    off: listOption('devices that must not hold it'),
  },
  examples: [
    ['$0 pin cities 17 --on d3', 'one of the replicas of partition 17 is on d3'],
    ['$0 pin cities 17 --off d4 d5', 'none is on d4 or d5; replaces an earlier pin'],
  ],
  run: async (args, context) => {
    const partition = parseNumber(args.text('partition'), 'partition', 'partition');
    const [on, off] = [args.texts('on'), args.texts('off')];
    if (on.length + off.length === 0) throw usage('name devices: --on d3 or --off d4');
    return stageAndAnswer(context, args.text('ring'), (state) => [
      {
        kind: 'pin',
        pin: {
          partition,
          on: deviceIdsOf(state, on),
          off: deviceIdsOf(state, off),
        },
      },
    ]);
  },
};
