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
  return after.devices.flatMap((is) => {
    const was = is === null ? null : (before.devices[is.id] ?? null);
    return is === null || is === was ? [] : (noteOf(was, is) ?? []);
  });
}

function noteOf(was: BuilderDevice | null, is: BuilderDevice): string | null {
  if (is.state === 'active' && isRampHeld(is)) {
    return `the ramp of d${is.id} takes no step until its maintenance ends`;
  }
  if (was?.ramp === undefined || was.state !== 'active') return null;
  const ramp = `the ramp of d${is.id} to weight ${was.ramp.target}`;
  if (is.replacedBy !== undefined) return `${ramp} continues as that of d${is.replacedBy}`;
  return is.state === 'active' && is.ramp === undefined ? `${ramp} ends` : null;
}

/**
 * Returns findings for ramps that a plan ends before their target. `old`: the state that a revert
 * goes back to.
 */
export function rampEndFindings({ before, after }: Around, old: BuilderState | null): Finding[] {
  return after.devices.flatMap((is) => {
    if (is?.state !== 'active' || is.ramp !== undefined) return [];
    const { id, weight } = is;
    const ends = rampOf(before, id);
    const then = rampOf(old, id);
    const stays = `and its weight is ${weight}`;
    return [
      ...(ends === null || ends.target === weight
        ? []
        : [findingOf('RAMP_ENDS', `the ramp of d${id} to weight ${ends.target} ends, ${stays}`)]),
      ...(then === null
        ? []
        : [findingOf('RAMP_NOT_BACK', `d${id} had a ramp to weight ${then.target}: ${noRamp}`)]),
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
