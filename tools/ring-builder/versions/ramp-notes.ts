// Says what happens to ramps when a command changes something else. Pure.
import type { Finding } from '@ringwright/base/finding';
import type { BuilderDevice, BuilderState } from '@ringwright/builder/state/builder-state';
import { isRampHeld } from '@ringwright/builder/state/step-ramps';

interface Around {
  readonly before: BuilderState;
  readonly after: BuilderState;
}

/** Returns a line for each ramp that a staged change ends, hands on or holds. */
export function rampNotes({ before, after }: Around): string[] {
  return after.devices.flatMap((device) => {
    const previous = device === null ? null : (before.devices[device.id] ?? null);
    return device === null || device === previous ? [] : (noteOf(previous, device) ?? []);
  });
}

function noteOf(previous: BuilderDevice | null, device: BuilderDevice): string | null {
  if (device.state === 'active' && isRampHeld(device)) {
    return `the ramp of d${device.id} takes no step until its maintenance ends`;
  }
  if (previous?.ramp === undefined || previous.state !== 'active') return null;
  const ramp = `the ramp of d${device.id} to weight ${previous.ramp.target}`;
  if (device.replacedBy !== undefined) return `${ramp} continues as that of d${device.replacedBy}`;
  return device.state === 'active' && device.ramp === undefined ? `${ramp} ends` : null;
}

/**
 * Returns findings for ramps that a plan ends before their target. `old`: the state that a revert
 * goes back to.
 */
export function rampEndFindings({ before, after }: Around, old: BuilderState | null): Finding[] {
  return after.devices.flatMap((device) => {
    if (device?.state !== 'active' || device.ramp !== undefined) return [];
    const { id, weight } = device;
    const ends = rampOf(before, id);
    const oldRamp = rampOf(old, id);
    const outcome = `and its weight is ${weight}`;
    return [
      ...(ends === null || ends.target === weight
        ? []
        : [findingOf('RAMP_ENDS', `the ramp of d${id} to weight ${ends.target} ends, ${outcome}`)]),
      ...(oldRamp === null
        ? []
        : [findingOf('RAMP_NOT_BACK', `d${id} had a ramp to weight ${oldRamp.target}: ${noRamp}`)]),
    ];
  });
}

const noRamp = 'a revert does not restore a ramp';

function rampOf(state: BuilderState | null, id: number) {
  const device = state?.devices[id];
  return device?.state === 'active' ? (device.ramp ?? null) : null;
}

function findingOf(code: string, message: string): Finding {
  return { code, message };
}
