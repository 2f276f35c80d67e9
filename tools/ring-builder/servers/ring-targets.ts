// The servers of a ring: their addresses with the devices that each serves. Pure.
import { formatAddress } from '@ringwright/base/server-address';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Ring } from '@ringwright/ring/ring';

export interface Target {
  readonly address: string;
  readonly devices: readonly number[];
  /** False for servers that must not hold anything up: their devices were all removed. */
  readonly required: boolean;
}

export function ringTargets(ring: Pick<Ring, 'devices'>, state: BuilderState | null): Target[] {
  const byAddress = new Map<string, number[]>();
  for (const device of ring.devices) {
    if (device === null) continue;
    const address = formatAddress(device);
    byAddress.set(address, [...(byAddress.get(address) ?? []), device.id]);
  }
  const isRemoved = (id: number): boolean => state?.devices[id]?.state === 'removed';
  return [...byAddress].map(([address, devices]) => {
    return { address, devices, required: !devices.every(isRemoved) };
  });
}
