// Names of the failure domains of a device: r1, r1z2, r1z2-10.0.0.1, d7. Pure.
import type { Device } from '@ringwright/ring/device';

/** Failure domains, from the widest to the device itself. */
export const tierKinds = ['region', 'zone', 'server', 'device'] as const;
export type TierKind = (typeof tierKinds)[number];

export function tierName(device: Device, kind: TierKind): string {
  if (kind === 'region') return `r${device.region}`;
  if (kind === 'zone') return `r${device.region}z${device.zone}`;
  if (kind === 'server') return `r${device.region}z${device.zone}-${device.ip}`;
  return `d${device.id}`;
}

/** Returns the domain name by device id; the empty string for a hole. */
export function tierNamesById(devices: readonly (Device | null)[], kind: TierKind): string[] {
  return devices.map((device) => (device === null ? '' : tierName(device, kind)));
}

/** Returns how many of these devices are in the domain. */
export function heldIn(
  { devices }: { readonly devices: readonly (Device | null)[] },
  holders: readonly number[],
  domain: { readonly tier: TierKind; readonly name: string },
): number {
  const names = holders.map((id) => {
    const device = devices[id] ?? null;
    return device === null ? '' : tierName(device, domain.tier);
  });
  return names.filter((name) => name === domain.name).length;
}
