// Weight ramps: one step per version toward a declared target, inside a window of time. Pure.
import type { BuilderDevice, BuilderState } from './builder-state.ts';

const WEIGHT_DIGITS = 12;
/** By this part a step may be longer, so that rounding leaves no rest for one more version. */
const STEP_SLACK = 1e-6;

/** Returns the state with one step of every due ramp. Ramps that reach their target are removed. */
export function stepRamps(state: BuilderState, nowHours: number): BuilderState {
  const isAnyDue = state.devices.some((device) => device !== null && isDue(device, nowHours));
  if (!isAnyDue) return state;
  const devices = state.devices.map((device) =>
    device !== null && isDue(device, nowHours) ? stepped(device) : device,
  );
  return { ...state, devices };
}

/** Whether the device's ramp may take a step at that time. */
export function isDue(device: BuilderDevice, nowHours: number): boolean {
  const { state, ramp } = device;
  if (state !== 'active' || ramp === undefined || isRampHeld(device)) return false;
  return nowHours >= ramp.fromHour && nowHours < ramp.untilHour;
}

/** Whether a hold blocks the ramp: steps would move nothing now, and all slots at once later. */
export function isRampHeld({ weight, hold, ramp }: BuilderDevice): boolean {
  if (ramp === undefined) return false;
  return hold === 'maintenance' || (hold === 'no-target' && ramp.target > weight);
}

function stepped(device: BuilderDevice): BuilderDevice {
  const { ramp, ...fields } = device;
  if (ramp === undefined) return device;
  const difference = ramp.target - device.weight;
  if (Math.abs(difference) <= ramp.step * (1 + STEP_SLACK))
    return { ...fields, weight: ramp.target };
  return { ...device, weight: rounded(device.weight + Math.sign(difference) * ramp.step) };
}

/** Rounds to 12 digits: 1 - 0.34 would otherwise print as 0.6599999999999999. */
function rounded(weight: number): number {
  return Number(weight.toPrecision(WEIGHT_DIGITS));
}
