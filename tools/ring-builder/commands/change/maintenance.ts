// ring-builder maintenance: stages that devices get no slots, and by default also keep theirs.
import type { Change } from '@ringwright/builder/state/change';
import { usage } from '../../cli/arguments.ts';
import { type Command, flagOption } from '../../cli/command.ts';
import { deviceIdsOf, devicesHelp } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';

export const command: Command = {
  positionals: { devices: { describe: devicesHelp } },
  options: {
    'no-target': flagOption('they get no new slots, but may lose some'),
    off: flagOption('end the maintenance'),
  },
  examples: [
    ['$0 maintenance cities d3 d4', 'they keep their slots and get no others'],
    ['$0 maintenance cities d3 --no-target', 'it gets no slots, but may lose some'],
    ['$0 maintenance cities d3 --off', 'it takes part again'],
  ],
  run: async (args, context) => {
    const devices = args.texts('devices');
    const [off, noTarget] = [args.flag('off'), args.flag('no-target')];
    if (devices.length === 0 || (off && noTarget)) {
      throw usage('name devices, with --no-target, --off or neither option');
    }
    const hold = off ? null : noTarget ? 'no-target' : 'maintenance';
    return stageAndAnswer(context, args.text('ring'), (state) =>
      deviceIdsOf(state, devices).map((id): Change => ({ kind: 'hold', id, hold })),
    );
  },
};
