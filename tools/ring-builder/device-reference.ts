// Which device somebody means: `d3`, `3`, `10.0.0.1:6200/sdb` or `r1z2-10.0.0.1:6200/sdb`. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderDevice, BuilderState } from '@ringwright/builder/builder-state';
import { formatDevice } from '@ringwright/ring/device';
import { parseDevice } from '@ringwright/ring/parse-device';

const IDS_SHOWN_MAX = 10;

/** The id of the device; whether it may change, applyChanges says. Throws DEVICE_UNKNOWN. */
export function deviceIdOf(state: BuilderState, reference: string): number {
  const id = /^d?(\d{1,9})$/.exec(reference)?.[1];
  const found =
    id === undefined ? state.devices.find(matcher(reference)) : state.devices[Number(id)];
  if (found) return found.id;
  const there = state.devices.filter((device) => device !== null);
  const shown = there.slice(0, IDS_SHOWN_MAX).map((device) => `d${device.id}`);
  const more = there.length > shown.length ? ` and ${there.length - shown.length} more` : '';
  throw new CodedError('DEVICE_UNKNOWN', `ring ${state.ring} has no device ${reference}`, {
    hint:
      there.length === 0
        ? `ring-builder add ${state.ring} r1z1-10.0.0.1:6200/sdb 100; it has no devices yet`
        : `ring-builder status ${state.ring} lists them; there are ${shown.join(', ')}${more}`,
    details: { ring: state.ring, device: reference, devices: there.map((device) => device.id) },
  });
}

function matcher(reference: string): (device: BuilderDevice | null) => boolean {
  if (!/^r\d+z\d+-/.test(reference)) {
    const wanted = parseDevice(`r0z0-${reference}`);
    return (device) => device !== null && sameAddress(device, wanted);
  }
  const wanted = parseDevice(reference);
  return (device) =>
    device !== null &&
    sameAddress(device, wanted) &&
    device.region === wanted.region &&
    device.zone === wanted.zone;
}

type Address = Pick<BuilderDevice, 'ip' | 'port' | 'device'>;

function sameAddress(a: Address, b: Address): boolean {
  return a.ip === b.ip && a.port === b.port && a.device === b.device;
}

/** `d3 r1z2-10.0.0.1:6200/sdb`. */
export function nameDevice(device: Parameters<typeof formatDevice>[0] & { id: number }): string {
  return `d${device.id} ${formatDevice(device)}`;
}
