// ring-builder ramp: stages a weight that is reached by steps of later versions.
import { flag, optionalNumber, parseNumber, text, usage } from '../arguments.ts';
import { deviceIdOf } from '../device-reference.ts';
import { MS_PER_HOUR } from '../hours.ts';
import { stageAndAnswer } from '../stage-verb.ts';
import type { Verb } from '../verb.ts';

const number = { type: 'string', requiresArg: true } as const;
const PERCENT = 10;
const HOURS = 720;

export const verb: Verb = {
  positionals: {
    device: { describe: 'd3, 10.0.0.1:6200/sdb or r1z2-10.0.0.1:6200/sdb' },
    weight: { describe: 'where it shall arrive' },
  },
  options: {
    percent: { ...number, describe: `of the way, in one version (default ${PERCENT})` },
    'in-hours': { ...number, describe: 'the window opens so many hours from now (default 0)' },
    hours: { ...number, describe: `and stays open so long (default ${HOURS})` },
    off: { type: 'boolean', describe: 'the weight stays where it is now' },
  },
  examples: [
    [
      '$0 ramp cities d3 100 --percent 20',
      'each commit --step-ramps adds a fifth of what is missing now',
    ],
    ['$0 ramp cities d3 0 --in-hours 8 --hours 6', 'drained step by step, tonight only'],
  ],
  run: async (args, context) => {
    const target = parseNumber(text(args, 'weight'), 'weight');
    const percent = optionalNumber(args, 'percent') ?? PERCENT;
    if (!(percent > 0 && percent <= 100)) throw usage(`--percent ${percent} is not in 0 to 100`);
    const now = Math.floor(context.nowMs() / MS_PER_HOUR);
    const fromHour = now + Math.floor(optionalNumber(args, 'in-hours') ?? 0);
    const untilHour = fromHour + Math.ceil(optionalNumber(args, 'hours') ?? HOURS);
    return stageAndAnswer(context, text(args, 'ring'), (state) => {
      const id = deviceIdOf(state, text(args, 'device'));
      if (flag(args, 'off')) return [{ kind: 'ramp', id, ramp: null }];
      const way = Math.abs(target - (state.devices[id]?.weight ?? 0));
      const step = (way * percent) / 100;
      return [{ kind: 'ramp', id, ramp: { target, step, fromHour, untilHour } }];
    });
  },
};
