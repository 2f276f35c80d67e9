// ring-builder unpin: stages the end of pins, so that shares decide where the partition goes.
import { parseNumber } from '../../cli/arguments.ts';
import type { Command } from '../../cli/command.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';

export const command: Command = {
  positionals: { partition: { describe: 'number of the partition, or all' } },
  examples: [
    ['$0 unpin cities 17', 'remove the pin of partition 17'],
    ['$0 unpin cities all', 'remove all pins'],
  ],
  run: async (args, context) => {
    const word = args.text('partition');
    const one = word === 'all' ? null : parseNumber(word, 'partition', 'partition');
    return stageAndAnswer(context, args.text('ring'), ({ pins = [] }) => {
      return pins
        .filter(({ partition }) => one === null || partition === one)
        .map(({ partition }) => ({ kind: 'pin', pin: { partition, on: [], off: [] } }));
    });
  },
};
