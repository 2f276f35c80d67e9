// ring-builder ramp: stages a weight that later versions reach step by step.
import type { WeightRamp } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { type Arguments, parseNumber, usage } from '../../cli/arguments.ts';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  textOption,
} from '../../cli/command.ts';
import { MS_PER_HOUR } from '../../cli/hours.ts';
import { deviceIdsOf, devicesHelp } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';

const PERCENT = 10;
const HOURS = 720;

export const command: Command = {
  positionals: {
    device: { describe: devicesHelp },
    weight: { describe: 'target weight; not with --off' },
  },
  options: {
    percent: textOption(`percent of the way in each version (default ${PERCENT})`),
    'in-hours': textOption(
      'the window opens this many hours from now, at a full hour (default: now)',
    ),
    hours: textOption(
      `hours that the window stays open, rounded up to a full hour (default ${HOURS})`,
    ),
    off: flagOption('the weight stays as it is now'),
  },
  about: `Each step is a version of its own, made by commit --step-ramps while the window is open
(UTC); no other commit takes a step. A drain over several nights, in four steps:
  once:        ring-builder ramp cities d3 0 --percent 25
               ring-builder commit cities -m 'd3 is drained'          (nothing moves yet)
  each night:  ring-builder commit cities -m 'd3, next step' --step-ramps
               ring-builder rollout cities --window 22-6 --rate 50MB/s
 or, instead of the nights: ring-builder rollout cities --follow --window 22-6
               takes one step after another while health finds nothing wrong
 at the end:  status says that d3 is drained; then remove cities d3, commit and rollout.
If the window closes too early, the weight stays; a new ramp opens another. While maintenance keeps
the slots of a device where they are, no step of its ramp is taken; a window does not wait.`,
  examples: [
    [
      '$0 ramp cities d3 100 --percent 20',
      'each commit --step-ramps adds a fifth of the difference',
    ],
    ['$0 ramp cities d3 0 --in-hours 8 --hours 6', 'drain step by step, only tonight'],
    ['$0 ramp cities d3 --off', 'the weight stays as it is now'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const device = args.text('device');
    if (args.flag('off')) return stopRamps(args, context, ring);
    const typedRamp = rampOf(args, context, ring);
    return stageAndAnswer(context, ring, (state) => {
      return deviceIdsOf(state, [device]).map((id): Change => {
        const { percent, ...ramp } = typedRamp;
        const distance = Math.abs(ramp.target - (state.devices[id]?.weight ?? 0));
        if (distance === 0) {
          throw usage(`d${id} has weight ${ramp.target} already: there is nothing to ramp`);
        }
        return { kind: 'ramp', id, ramp: { ...ramp, step: (distance * percent) / 100 } };
      });
    });
  },
};

function stopRamps(args: Arguments, context: Context, ring: string): Promise<Answer> {
  const [device, weight] = [args.text('device'), args.optionalText('weight')];
  if (weight !== undefined) {
    throw usage(
      `${device} cannot both go to weight ${weight} and stop with --off: choose one`,
      `ring-builder ramp ${ring} ${device} --off, or without --off`,
    );
  }
  return stageAndAnswer(context, ring, (state) =>
    deviceIdsOf(state, [device])
      .filter((id) => state.devices[id]?.ramp !== undefined)
      .map((id) => ({ kind: 'ramp', id, ramp: null })),
  );
}

interface AskedRamp extends Omit<WeightRamp, 'step'> {
  /** Percentage of the way per version. */
  readonly percent: number;
}

function rampOf(args: Arguments, context: Context, ring: string): AskedRamp {
  const weight = args.optionalText('weight');
  if (weight === undefined) {
    const device = args.text('device');
    throw usage(
      `no target weight for ${device}`,
      `ring-builder ramp ${ring} ${device} WEIGHT, or --off to end a ramp`,
    );
  }
  const target = parseNumber(weight, 'weight', 'weight');
  const percent = args.optionalNumber('percent') ?? PERCENT;
  return { target, percent, ...windowOf(args, context.nowMs() / MS_PER_HOUR) };
}

/** The state has whole hours. The window opens no earlier, and is no shorter, than requested. */
function windowOf(args: Arguments, nowHours: number): Pick<WeightRamp, 'fromHour' | 'untilHour'> {
  const wait = args.optionalNumber('in-hours') ?? 0;
  const hours = args.optionalNumber('hours') ?? HOURS;
  const fromHour = wait === 0 ? Math.floor(nowHours) : Math.ceil(nowHours + wait);
  return { fromHour, untilHour: Math.ceil(Math.max(nowHours, fromHour) + hours) };
}
