// Describes ramps: which steps are due, and what a commit does with them. Times are UTC. Pure.
import type { Finding } from '@ringwright/base/finding';
import type {
  BuilderDevice,
  BuilderState,
  WeightRamp,
} from '@ringwright/builder/state/builder-state';
import { isDue } from '@ringwright/builder/state/step-ramps';
import { flagOption, type Lines } from '../cli/command.ts';
import { MS_PER_HOUR } from '../cli/hours.ts';

export interface RampRow {
  readonly id: number;
  readonly weight: number;
  readonly target: number;
  /** The most weight that one version adds or takes away. */
  readonly step: number;
  /** ISO 8601, UTC. */
  readonly from: string;
  readonly until: string;
  /**
   * `held`: the window is open, but maintenance keeps the slots where they are. `over`: the window
   * closed before the target was reached; the weight stays.
   */
  readonly phase: 'before' | 'due' | 'held' | 'over';
}

export const stepRampsOption = flagOption(
  'take the next step of every ramp whose window is open; without this, ramps wait',
);

export function rampRows({ devices }: BuilderState, nowMs: number): RampRow[] {
  const nowHours = nowMs / MS_PER_HOUR;
  return devices.flatMap((device): RampRow[] => {
    if (device?.state !== 'active' || device.ramp === undefined) return [];
    const { id, weight, ramp } = device;
    const { target, step, fromHour, untilHour } = ramp;
    const phase = phaseOf(device, nowHours);
    const [from, until] = [isoOf(fromHour), isoOf(untilHour)];
    return [{ id, weight, target, step, from, until, phase }];
  });
}

function phaseOf(device: BuilderDevice, nowHours: number): RampRow['phase'] {
  if (isDue(device, nowHours)) return 'due';
  if (nowHours < (device.ramp?.fromHour ?? 0)) return 'before';
  return nowHours < (device.ramp?.untilHour ?? 0) ? 'held' : 'over';
}

/** `step`: the command that takes the next step. */
export function rampLines(rows: readonly RampRow[], step: string): string[] {
  const phases = {
    before: 'not open yet',
    due: `due: ${step}`,
    held: 'waits until its maintenance ends',
    over: 'closed; the weight stays',
  };
  return rows.map(
    ({ id, weight, target, step: by, from, until, phase }) =>
      `ramp d${id}: weight ${shown(weight)} to ${shown(target)} by ${shown(by)} a step, ` +
      `${printWindow(from, until)}, ${phases[phase]}`,
  );
}

/** Says why --step-ramps took no step. */
export function whyNoStep(ring: string, rows: readonly RampRow[]): Lines {
  if (rows.length === 0) {
    return [`no device has a ramp: ring-builder ramp ${ring} DEVICE WEIGHT starts a ramp`];
  }
  const restartHint = `ring-builder ramp ${ring} DEVICE WEIGHT opens another window`;
  const isOver = rows.some(({ phase }) => phase === 'over');
  return [...rampLines(rows, `plan ${ring} --step-ramps`), isOver && restartHint];
}

/**
 * Returns the findings of a plan about ramps. `after`: the state that would be committed. Closed
 * windows are mentioned only if steps were requested and none is taken.
 */
export function rampFindings(
  rows: readonly RampRow[],
  after: BuilderState,
  { stepRamps = false }: { readonly stepRamps?: boolean },
): Finding[] {
  const isVain = stepRamps && rows.every(({ phase }) => phase !== 'due');
  return rows
    .filter(({ phase }) => isVain || phase === 'due' || phase === 'held')
    .map(({ id, weight, target, from, until, phase }) => {
      const weightAfter = after.devices[id]?.weight ?? weight;
      const rampText = `d${id} is ramping from weight ${shown(weight)} to ${shown(target)}`;
      if (phase === 'before' || phase === 'over') {
        const shut = phase === 'before' ? 'is not open yet' : 'is closed';
        const window = `its window, ${printWindow(from, until)}, ${shut}`;
        return { code: 'RAMP_SHUT', message: `${rampText}; ${window}: this commit takes no step` };
      }
      if (phase === 'held') {
        return { code: 'RAMP_HELD', message: `${rampText}, but waits until its maintenance ends` };
      }
      return weightAfter === weight
        ? { code: 'RAMP_WAITS', message: `${rampText}; only --step-ramps takes a step` }
        : {
            code: 'RAMP_STEPS',
            message: `${rampText}; this commit takes it to ${shown(weightAfter)}`,
          };
    });
}

/** Rounds the sum of steps: 0.12 a step adds up to 0.6400000000000001. */
function shown(weight: number): number {
  return Number(weight.toPrecision(12));
}

function isoOf(hour: number): string {
  return new Date(hour * MS_PER_HOUR).toISOString();
}

/** Returns `2026-11-21 22:00 to 2026-11-22 06:00 UTC`. */
export function windowText({ fromHour, untilHour }: WeightRamp): string {
  return printWindow(isoOf(fromHour), isoOf(untilHour));
}

function printWindow(from: string, until: string): string {
  return `${printHour(from)} to ${printHour(until)} UTC`;
}

function printHour(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}
