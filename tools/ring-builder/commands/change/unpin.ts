// ring-builder unpin: stages that a partition goes where shares want it.
import { parseNumber, text } from '../../cli/arguments.ts';
import type { Verb } from '../../cli/verb.ts';
import { stageAndAnswer } from '../../versions/stage-verb.ts';

export const verb: Verb = {
  positionals: { partition: { describe: 'its number' } },
  examples: [['$0 unpin cities 17', 'forgets what is pinned of partition 17']],
  run: async (args, context) => {
    const partition = parseNumber(text(args, 'partition'), 'partition', 'partition');
    const pin = { partition, on: [], off: [] };
    return stageAndAnswer(context, text(args, 'ring'), () => [{ kind: 'pin', pin }]);
  },
};
