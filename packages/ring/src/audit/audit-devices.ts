// Audit of a ring's device list: ids are indexes, fields within limits, no address twice. Pure.
import { deviceCountMax } from '@ringwright/base/limits';
import { formatDevice } from '../device.ts';
import { deviceSchema, firstComplaint } from '../device-fields.ts';
import type { Ring } from '../ring.ts';
import type { Broken, Check } from './finding-list.ts';

export const deviceChecks: readonly Check<Ring>[] = [
  { code: 'DEVICES_TOO_MANY', broken: devicesTooMany },
  { code: 'DEVICE_ID_NOT_INDEX', broken: idNotIndex },
  { code: 'DEVICE_FIELDS_INVALID', broken: fieldsInvalid },
  { code: 'DEVICE_ADDRESS_TWICE', broken: addressTwice },
];

function* devicesTooMany({ devices }: Ring): Generator<Broken> {
  if (devices.length <= deviceCountMax) return;
  yield { message: `${devices.length} devices, holes included, at most ${deviceCountMax}` };
}

function* idNotIndex({ devices }: Ring): Generator<Broken> {
  for (const [index, device] of devices.entries()) {
    if (device === null || device.id === index) continue;
    yield { message: `device ${formatDevice(device)} has id ${device.id} at index ${index}` };
  }
}

function* fieldsInvalid({ devices }: Ring): Generator<Broken> {
  for (const device of devices) {
    if (device === null) continue;
    const parsed = deviceSchema.safeParse(device);
    if (parsed.success) continue;
    const message = `device ${device.id} has a wrong ${firstComplaint(parsed.error)}`;
    yield { message, details: { device } };
  }
}

function* addressTwice({ devices }: Ring): Generator<Broken> {
  const seen = new Map<string, number>();
  for (const device of devices) {
    if (device === null) continue;
    const address = `${device.ip} ${device.port} ${device.device}`;
    const first = seen.get(address);
    if (first === undefined) seen.set(address, device.id);
    else yield { message: `devices ${first} and ${device.id} are both ${formatDevice(device)}` };
  }
}
