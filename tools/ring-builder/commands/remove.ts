// ring-builder remove: stages devices to leave.
import type { Change } from '@ringwright/builder/change';
import { text, texts } from '../arguments.ts';
import { deviceIdOf } from '../device-reference.ts';
import { stageAndAnswer } from '../stage-verb.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  positionals: { devices: { describe: 'd3, 10.0.0.1:6200/sdb or r1z2-10.0.0.1:6200/sdb' } },
  examples: [
    ['$0 remove cities d3', 'by device id'],
    ['$0 remove cities 10.0.0.1:6200/sdb', 'by address; set-weight 0 drains more gently'],
  ],
  run: async (args, context) =>
    stageAndAnswer(context, text(args, 'ring'), (state) =>
      texts(args, 'devices').map(
        (reference): Change => ({ kind: 'remove', id: deviceIdOf(state, reference) }),
      ),
    ),
};
