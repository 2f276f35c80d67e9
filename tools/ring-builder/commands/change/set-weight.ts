// ring-builder set-weight: stages other weights.
import { counted } from '@ringwright/base/counted';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { parseNumber, usage } from '../../cli/arguments.ts';
import type { Command } from '../../cli/command.ts';
import { deviceIdsOf } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';

export const command: Command = {
  positionals: { pairs: { describe: 'pairs of device and weight: d3 150' } },
  examples: [
    ['$0 set-weight cities d3 150', 'by device id'],
    ['$0 set-weight cities 10.0.0.1:6200/sdb 0 d4 50', 'two devices; weight 0 drains a device'],
    ['$0 set-weight cities @10.0.0.1 0', 'all devices of a server'],
  ],
  run: async (args, context) => {
    const pairs = args.texts('pairs');
    if (pairs.length % 2 === 1) {
      throw usage(
        `${counted(pairs.length, 'word')}, expected pairs of device and weight: ${pairs.at(-1)} has no weight`,
        `ring-builder set-weight ${args.text('ring')} d3 150`,
      );
    }
    return stageAndAnswer(context, args.text('ring'), (state) => changesOf(state, pairs));
  },
};

/** For a device named twice, the last weight counts. Setting the present weight ends a ramp. */
function changesOf(state: BuilderState, pairs: readonly string[]): Change[] {
  const weights = new Map<number, number>();
  for (let at = 0; at < pairs.length; at += 2) {
    const reference = pairs[at] ?? '';
    const weight = parseNumber(pairs[at + 1] ?? '', 'weight', `weight of ${reference}`);
    for (const id of deviceIdsOf(state, [reference])) weights.set(id, weight);
  }
  return [...weights]
    .filter(([id, weight]) => {
      const device = state.devices[id];
      return device?.weight !== weight || device.ramp !== undefined;
    })
    .map(([id, weight]) => ({ kind: 'set-weight', id, weight }));
}
