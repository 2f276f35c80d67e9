// ring-builder set-weight: stages other weights.
import { counted } from '@ringwright/base/counted';
import type { Change } from '@ringwright/builder/state/change';
import { parseNumber, text, texts, usage } from '../../cli/arguments.ts';
import type { Verb } from '../../cli/verb.ts';
import { deviceIdsOf } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-verb.ts';

export const verb: Verb = {
  positionals: { pairs: { describe: 'device and weight in turn: d3 150' } },
  examples: [
    ['$0 set-weight cities d3 150', 'by device id'],
    ['$0 set-weight cities 10.0.0.1:6200/sdb 0 d4 50', 'two devices; weight 0 drains'],
    ['$0 set-weight cities @10.0.0.1 0', 'all devices of a server'],
  ],
  run: async (args, context) => {
    const pairs = texts(args, 'pairs');
    if (pairs.length % 2 === 1) {
      throw usage(
        `${counted(pairs.length, 'word')}, wanted pairs of device and weight: ${pairs.at(-1)} has no weight`,
        `ring-builder set-weight ${text(args, 'ring')} d3 150`,
      );
    }
    return stageAndAnswer(context, text(args, 'ring'), (state) =>
      pairs.flatMap((reference, at): Change[] => {
        if (at % 2 === 1) return [];
        const weight = parseNumber(pairs[at + 1] ?? '', 'weight', `weight of ${reference}`);
        return deviceIdsOf(state, [reference]).map((id) => ({ kind: 'set-weight', id, weight }));
      }),
    );
  },
};
