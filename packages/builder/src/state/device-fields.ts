// What a device description must look like before it enters a ring. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { deviceWeightMax } from '@ringwright/base/limits';
import type { Device } from '@ringwright/ring/device';
import { deviceSchema, firstComplaint } from '@ringwright/ring/device-fields';
import type { WeightRamp } from './builder-state.ts';

/** Refuses a weight that is not a number in 0 … deviceWeightMax: VALUE_OUT_OF_RANGE. */
export function checkWeight(weight: number, name: string): void {
  if (Number.isFinite(weight) && weight >= 0 && weight <= deviceWeightMax) return;
  throw new CodedError(
    'VALUE_OUT_OF_RANGE',
    `weight ${weight} of ${name} is not within 0 and ${deviceWeightMax}`,
    { hint: 'weight 0 drains a device', details: { weight: String(weight), max: deviceWeightMax } },
  );
}

/** Refuses a ramp that would not move or not end: VALUE_OUT_OF_RANGE. */
export function checkRamp({ target, step, fromHour, untilHour }: WeightRamp, id: number): void {
  checkWeight(target, `d${id}`);
  const hours = Number.isInteger(fromHour) && Number.isInteger(untilHour) && fromHour >= 0;
  if (step > 0 && step <= deviceWeightMax && hours && untilHour > fromHour) return;
  throw new CodedError(
    'VALUE_OUT_OF_RANGE',
    `the ramp of d${id} has step ${step} and hours ${fromHour} to ${untilHour}`,
    { details: { id, step: String(step), fromHour, untilHour } },
  );
}

const fieldsSchema = deviceSchema.omit({ id: true, weight: true });

/** Refuses fields no server could have: DEVICE_INVALID, naming the field at fault. */
export function checkDeviceFields(device: Omit<Device, 'id' | 'weight'>): void {
  const parsed = fieldsSchema.safeParse(device, { reportInput: true });
  if (parsed.success) return;
  throw new CodedError('DEVICE_INVALID', `the device has a wrong ${firstComplaint(parsed.error)}`, {
    hint: 'write it as r1z2-10.0.0.1:6200/sdb',
    details: { device },
  });
}
