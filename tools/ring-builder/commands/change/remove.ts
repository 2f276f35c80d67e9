// ring-builder remove: stages devices to leave the ring.
import type { Change } from '@ringwright/builder/state/change';
import type { Command } from '../../cli/command.ts';
import { deviceIdsOf, devicesHelp } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';
import { cancelFirst } from './cancel-first.ts';

export const command: Command = {
  positionals: { devices: { describe: devicesHelp } },
  examples: [
    ['$0 remove cities d3', 'by device id'],
    ['$0 remove cities 10.0.0.1:6200/sdb', 'by address; set-weight 0 drains a device more gently'],
    ['$0 remove cities r1z2,weight=0', 'all drained devices of a zone'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const removed: number[] = [];
    const answer = await stageAndAnswer(context, ring, (state) =>
      deviceIdsOf(state, args.texts('devices')).map((id): Change => {
        removed.push(id);
        return { kind: 'remove', id };
      }),
    );
    return cancelFirst(context, { ring, removed, answer });
  },
};
