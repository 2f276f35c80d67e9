// Converts a Swift device to ours, and back. Fields without a use here are kept in `extra`. Pure.
import type { Json } from '@ringwright/base/canonical-json';
import { deviceCountMax } from '@ringwright/base/limits';
import type { Device } from '@ringwright/ring/device';
import { deviceSchema } from '@ringwright/ring/device-fields';
import { asciiJson, asciiObject, floatJson } from './ascii-json.ts';
import { fieldComplaint, swiftInvalid, swiftTooLarge, swiftUnfit } from './swift-file-error.ts';
import type { SwiftRing } from './swift-ring.ts';

/** Fields that a builder keeps beside the device itself; recomputed on export. */
const bookkeeping = ['parts', 'parts_wanted'];

/** Converts the device list; null is a hole. Throws SWIFT_FILE_INVALID with device and field. */
export function devicesOfSwift(values: readonly unknown[]): (Device | null)[] {
  requireDeviceCount(values.length);
  return values.map(deviceOfSwift);
}

/** Throws SWIFT_FILE_TOO_LARGE. */
export function requireDeviceCount(count: number): void {
  if (count > deviceCountMax) throw swiftTooLarge('number of devices', count, deviceCountMax);
}

/** Null is a hole. Throws SWIFT_FILE_INVALID with the wrong field. */
export function deviceOfSwift(value: unknown, index: number): Device | null {
  if (value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw swiftInvalid(`device ${index}`, JSON.stringify(value), 'an object or null');
  }
  const fields = new Map<string, unknown>(Object.entries(value));
  const takeField = (name: string, absent?: unknown): unknown => {
    const found = fields.has(name) ? fields.get(name) : absent;
    fields.delete(name);
    return found;
  };
  const id = takeField('id');
  if (id !== index) throw swiftInvalid(`id of device ${index}`, String(id), index);
  for (const name of bookkeeping) fields.delete(name);
  const device = {
    id,
    region: takeField('region', 1),
    zone: takeField('zone'),
    ip: takeField('ip'),
    port: takeField('port'),
    device: takeField('device'),
    weight: takeField('weight'),
    meta: takeField('meta', ''),
  };
  const replication = replicationOf(fields, device);
  const extra = fields.size === 0 ? {} : { extra: Object.fromEntries(fields) };
  const parsed = deviceSchema.safeParse({ ...device, ...replication, ...extra });
  if (parsed.success) return parsed.data;
  throw swiftUnfit(`device ${index}`, fieldComplaint(parsed.error));
}

/** Moves the address out of `fields`. One that no server can have stays among the kept fields. */
function replicationOf(
  fields: Map<string, unknown>,
  { ip, port }: { readonly ip: unknown; readonly port: unknown },
): Pick<Device, 'replication'> {
  const valueOf = (name: string, absent: unknown): unknown =>
    fields.has(name) ? fields.get(name) : absent;
  const address = { ip: valueOf('replication_ip', ip), port: valueOf('replication_port', port) };
  const parsed = deviceSchema.shape.replication.safeParse(address);
  if (!parsed.success || parsed.data === undefined) return {};
  for (const name of ['replication_ip', 'replication_port']) fields.delete(name);
  return address.ip === ip && address.port === port ? {} : { replication: parsed.data };
}

/** Returns the Swift fields of a device, by name. Swift's `weight` is a float. */
export function swiftFieldsOf(device: Device): [name: string, value: Json][] {
  const { extra = {}, replication, ...own } = device;
  const { ip: replication_ip, port: replication_port } = replication ?? device;
  const addresses = { replication_ip, replication_port };
  const fields: [string, Json][] = Object.entries({ ...own, ...addresses, ...extra });
  return fields.sort(([a], [b]) => (a < b ? -1 : 1));
}

export function devicesJson(devices: SwiftRing['devices']): string {
  const texts = devices.map((device) => {
    if (device === null) return 'null';
    const fields = swiftFieldsOf(device);
    return asciiObject(
      fields.map(([name, value]) => [
        name,
        name === 'weight' ? floatJson(device.weight) : asciiJson(value),
      ]),
    );
  });
  return `[${texts.join(', ')}]`;
}
