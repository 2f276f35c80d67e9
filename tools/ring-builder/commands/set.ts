// ring-builder set: stages other settings of the ring.
import { optionalNumber, text, usage } from '../arguments.ts';
import { stageAndAnswer } from '../stage-verb.ts';
import type { Verb } from '../verb.ts';

const string = { type: 'string', requiresArg: true } as const;

export const verb: Verb = {
  options: {
    replicas: { ...string, describe: 'replicas of each partition; 2.5: of every second one three' },
    'min-part-hours': { ...string, describe: 'hours a partition rests after a move; 0: none' },
    overload: { ...string, describe: 'share above its weight for dispersion: 0.1 is 10 %' },
  },
  examples: [
    ['$0 set cities --replicas 2.5', 'half of the partitions get a third replica'],
    ['$0 set cities --overload 0.1', 'devices may take 10 % more than their weight'],
  ],
  run: async (args, context) => {
    const replicas = optionalNumber(args, 'replicas');
    const minPartHours = optionalNumber(args, 'min-part-hours');
    const overload = optionalNumber(args, 'overload');
    if (replicas === undefined && minPartHours === undefined && overload === undefined) {
      throw usage('nothing to set', 'ring-builder set RING --overload 0.1');
    }
    const settings = {
      ...(replicas === undefined ? {} : { replicas }),
      ...(minPartHours === undefined ? {} : { minPartHours }),
      ...(overload === undefined ? {} : { overload }),
    };
    return stageAndAnswer(context, text(args, 'ring'), () => [{ kind: 'set', settings }]);
  },
};
