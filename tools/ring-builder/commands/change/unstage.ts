// ring-builder unstage: drops staged commands, all or some.
import { unstage } from '@ringwright/repository/stage-changes';
import { parseNumber } from '../../cli/arguments.ts';
import type { Command } from '../../cli/command.ts';
import { authorOf } from '../../versions/stage-command.ts';

export const command: Command = {
  positionals: { numbers: { array: true, describe: 'numbers as listed by status; default: all' } },
  examples: [
    ['$0 unstage cities', 'discard everything staged since the last commit'],
    ['$0 unstage cities 2', 'discard the second command; later ones stay if they fit without it'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const words = args.texts('numbers');
    const numbers = [...new Set(words.map((word) => parseNumber(word, 'number', 'number')))];
    const dropped = await unstage(
      { rings: context.rings, ring },
      authorOf(context),
      numbers.length === 0 ? 'all' : numbers,
    );
    return {
      json: { ring, dropped, changed: dropped.length > 0 },
      lines:
        dropped.length === 0
          ? ['nothing is staged']
          : dropped.map(({ command }) => `discarded: ${command}`),
      next: context.next(`status ${ring}`),
    };
  },
};
