// Weights on their way to declared targets: one step per version, inside a window of time. Pure.
import type { BuilderDevice, BuilderState } from './builder-state.ts';

const WEIGHT_DIGITS = 12;

/** The state with every ramp that is due one step further; a ramp that has arrived is gone. */
export function stepRamps(state: BuilderState, nowHours: number): BuilderState {
  const due = state.devices.some((device) => device !== null && isDue(device, nowHours));
  if (!due) return state;
  const devices = state.devices.map((device) =>
    device !== null && isDue(device, nowHours) ? stepped(device) : device,
  );
  return { ...state, devices };
}

/** Whether a step of its ramp may be taken at that time. */
export function isDue(device: BuilderDevice, nowHours: number): boolean {
  const { state, ramp } = device;
  if (state !== 'active' || ramp === undefined || isRampHeld(device)) return false;
  return nowHours >= ramp.fromHour && nowHours < ramp.untilHour;
}

/** A step would move nothing: steps would be used up, and their slots move all at once later. */
export function isRampHeld({ weight, hold, ramp }: BuilderDevice): boolean {
  if (ramp === undefined) return false;
  return hold === 'maintenance' || (hold === 'no-target' && ramp.target > weight);
}

function stepped(device: BuilderDevice): BuilderDevice {
  const { ramp, ...fields } = device;
  if (ramp === undefined) return device;
  const away = ramp.target - device.weight;
  if (rounded(Math.abs(away)) <= ramp.step) return { ...fields, weight: ramp.target };
  return { ...device, weight: rounded(device.weight + Math.sign(away) * ramp.step) };
}

/** 1 - 0.34 is 0.6599999999999999: nobody wants to read that. */
function rounded(weight: number): number {
  return Number(weight.toPrecision(WEIGHT_DIGITS));
}
