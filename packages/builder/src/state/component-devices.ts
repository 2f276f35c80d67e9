// The devices of a composite ring: which component owns each one, and the ids on both sides. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import type { Device } from '@ringwright/ring/device';
import type { Ring } from '@ringwright/ring/ring';
import type { BuilderDevice, BuilderState, Component } from './builder-state.ts';

interface Head {
  readonly ring: Ring;
  readonly state: BuilderState;
}

/**
 * Updates `devices` in place to match the components, and returns for each component its device ids
 * in the composite ring. A device keeps its id, even when another component owns it now. Devices
 * that no component has any more are marked removed. `before`: the components of the last
 * composition. Throws COMPONENTS_UNFIT.
 */
export function takeDevices(
  devices: (BuilderDevice | null)[],
  heads: readonly Head[],
  before: readonly Component[] = [],
): (number | null)[][] {
  const owners = ownersOf(heads);
  const isOwn = (device: BuilderDevice | null, at: number): device is BuilderDevice =>
    device?.state === 'active' && owners.get(placeOf(device))?.at === at;
  const knownOf = (at: number, id: number): number | null => before[at]?.devices[id] ?? null;
  const idsByPlace = new Map(
    devices.flatMap((one) => (one === null ? [] : [[placeOf(one), one.id]])),
  );
  const claimed = new Set(
    heads.flatMap(({ state }, at) =>
      state.devices.map((device, id) => (isOwn(device, at) ? knownOf(at, id) : null)),
    ),
  );
  for (const [place, id] of idsByPlace) if (claimed.has(id)) idsByPlace.delete(place);
  const deviceIds = heads.map(({ state }, at) =>
    state.devices.map((device, ownId) => {
      if (!isOwn(device, at)) return null;
      const { hold: _hold, ramp: _ramp, tokens: _tokens, replacedBy: _heir, ...fields } = device;
      const existingId = devices[knownOf(at, ownId) ?? -1]?.id ?? idsByPlace.get(placeOf(device));
      const id = existingId ?? devices.length;
      devices[id] = { ...fields, id };
      return id;
    }),
  );
  const inUse = new Set(deviceIds.flat());
  return deviceIds.map((ids, at) =>
    ids.map((id, ownId) => {
      const formerId = id === null ? knownOf(at, ownId) : null;
      if (formerId === null || inUse.has(formerId)) return id;
      const existing = devices[formerId] ?? null;
      if (existing !== null) devices[formerId] = { ...existing, state: 'removed' };
      return formerId;
    }),
  );
}

interface Owner {
  /** Index of the component. */
  readonly at: number;
  readonly isSpare: boolean;
  readonly ring: string;
  readonly device: number;
}

/** Returns the owner of each place. A component that has the device as a spare yields it. */
function ownersOf(heads: readonly Head[]): ReadonlyMap<string, Owner> {
  const owners = new Map<string, Owner>();
  for (const [at, { ring, state }] of heads.entries()) {
    for (const device of state.devices) {
      if (device === null || isGone(ring, device)) continue;
      const isSpare = isSpareIn(ring, device);
      const owner = { at, isSpare, ring: ring.keyspace, device: device.id };
      const other = owners.get(placeOf(device));
      if (other !== undefined && !other.isSpare && !isSpare) throw shared(device, other, owner);
      if (other === undefined || (other.isSpare && !isSpare)) owners.set(placeOf(device), owner);
    }
  }
  return owners;
}

function isGone({ keyspace, version, table }: Ring, { id, state }: BuilderDevice): boolean {
  if (state !== 'removed') return false;
  if (!table.some((row) => row.includes(id))) return true;
  const message = `d${id} of ${keyspace} is removed, but has slots in version ${version}`;
  const hint = `ring-builder plan ${keyspace}; its remaining slots must move away first`;
  throw new CodedError('COMPONENTS_UNFIT', message, { hint });
}

/** Whether the device holds no slot, and neither its weight nor its ramp gives it one. */
function isSpareIn({ table }: Ring, { id, weight, ramp }: BuilderDevice): boolean {
  return weight === 0 && (ramp?.target ?? 0) === 0 && !table.some((row) => row.includes(id));
}

function shared(device: BuilderDevice, ...[one, other]: readonly [Owner, Owner]): CodedError {
  const [first, second] = [one, other].map((owner) => `d${owner.device} of ${owner.ring}`);
  const [removeFirst, removeSecond] = [one, other].map(
    (owner) => `remove ${owner.ring} d${owner.device}`,
  );
  const message = `${placeOf(device)} is ${first} and ${second}`;
  return new CodedError('COMPONENTS_UNFIT', message, {
    hint:
      'only one component may have it: remove it from the other with ' +
      `ring-builder ${removeFirst} or ring-builder ${removeSecond}, and commit`,
  });
}

/** Returns a text that only one device has: `10.0.0.1:6200/sdb`. */
export function placeOf(device: Pick<Device, 'ip' | 'port' | 'device'>): string {
  return `${formatAddress(device)}/${device.device}`;
}
