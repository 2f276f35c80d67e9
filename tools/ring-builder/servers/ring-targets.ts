// The servers of a ring: their addresses with the devices that each serves. Pure.
import { formatAddress, serverAddress } from '@ringwright/base/server-address';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { deviceIn, type Ring } from '@ringwright/ring/ring';

export interface Target {
  readonly address: string;
  readonly devices: readonly number[];
  /** False for servers that must not delay a push: all their devices were removed. */
  readonly required: boolean;
}

export function ringTargets(ring: Pick<Ring, 'devices'>, state: BuilderState | null): Target[] {
  const devices = ring.devices.filter((device) => device !== null);
  const isRemoved = (id: number): boolean => state?.devices[id]?.state === 'removed';
  return [...Map.groupBy(devices, formatAddress)].map(([address, served]) => {
    const ids = served.map(({ id }) => id);
    return { address, devices: ids, required: !ids.every(isRemoved) };
  });
}

/**
 * Adds servers that the operator typed, whether the ring names them or not. Throws ADDRESS_INVALID.
 */
export function withFurther(named: readonly Target[], written: readonly string[]): Target[] {
  const typed = new Set(written.map(serverAddress));
  const members = named.map((one) => (typed.has(one.address) ? { ...one, required: true } : one));
  for (const { address } of named) typed.delete(address);
  return [...members, ...[...typed].map((address) => ({ address, devices: [], required: true }))];
}

/**
 * Like ringTargets, but removed devices that still hold slots make their server required. For
 * checks of whether all is well.
 */
export function countedTargets(ring: Ring, state: BuilderState | null): Target[] {
  const holding = new Set(removedHolders(ring, state));
  return ringTargets(ring, state).map(({ address, devices, required }) => {
    return { address, devices, required: required || devices.some((id) => holding.has(id)) };
  });
}

export function removedDevices(state: BuilderState | null): number[] {
  return state?.devices.flatMap((one) => (one?.state === 'removed' ? [one.id] : [])) ?? [];
}

/**
 * Returns removed devices with slots that no move in flight takes away, because a split came first
 * or moves were canceled. O(slots) where a device is removed.
 */
export function removedHolders({ table, moves }: Ring, state: BuilderState | null): number[] {
  const removed = removedDevices(state);
  if (removed.length === 0) return [];
  const leaving = new Set(moves.map(({ partition, replica }) => `${replica}/${partition}`));
  const holding = new Set<number>();
  for (const [replica, row] of table.entries()) {
    for (let partition = 0; partition < row.length; partition += 1) {
      const device = deviceIn(row, partition);
      if (device === undefined || holding.has(device)) continue;
      if (!leaving.has(`${replica}/${partition}`)) holding.add(device);
    }
  }
  return removed.filter((id) => holding.has(id));
}
