// Applies staged changes to a builder state, all or none. Pure.
import { unreachable } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { deviceCountMax, deviceWeightMax, deviceWeightMin } from '@ringwright/base/limits';
import { type Device, formatDevice } from '@ringwright/ring/device';
import { deviceSchema, firstComplaint } from '@ringwright/ring/device-fields';
import { asIntervals } from '@ringwright/ring/partitioner/as-intervals';
import { samePartitioner } from '@ringwright/ring/partitioner/partitioner-settings';
import type { BuilderDevice, BuilderState, Pin, WeightRamp } from './builder-state.ts';
import type { Change } from './change.ts';
import {
  addressesOf,
  type ClaimedAddresses,
  claimAddress,
  claimKey,
  releaseAddress,
  releaseKey,
} from './claimed-addresses.ts';
import { checkPin, withPin } from './pins.ts';
import { type ReshapeChange, reshapedBy } from './reshaped-by.ts';
import {
  checkMinPartHours,
  checkOverload,
  checkPartitioner,
  checkReplicas,
  checkZonesMin,
} from './setting-ranges.ts';
import { someOf } from './some-of.ts';
import { checkTokenRules, tokensOf } from './token-rules.ts';

const IDS_SHOWN_MAX = 20;

type MutableState = { -readonly [key in keyof BuilderState]: BuilderState[key] } & {
  devices: (BuilderDevice | null)[];
};

/**
 * Returns the state after `changes`, applied in order. The state passed in is not modified.
 * Errors: DEVICE_UNKNOWN with the known ids, DEVICE_DUPLICATE with the id of the existing device,
 * DEVICE_INVALID, VALUE_OUT_OF_RANGE with value and limit. An added device gets the next free id,
 * never the id of a hole.
 */
export function applyChanges(state: BuilderState, changes: readonly Change[]): BuilderState {
  const next: MutableState = { ...state, devices: [...state.devices] };
  const addresses = addressesOf(next.devices);
  for (const change of changes) applyOne(next, change, addresses);
  checkTokenRules(next);
  return next;
}

function applyOne(state: MutableState, change: Change, addresses: ClaimedAddresses): void {
  switch (change.kind) {
    case 'add':
      addDevice(state, change, addresses);
      return;
    case 'remove': {
      const device = activeDevice(state, change.id);
      releaseKey(addresses, device);
      state.devices[change.id] = { ...device, state: 'removed' };
      return;
    }
    case 'set-weight': {
      const device = activeDevice(state, change.id);
      checkWeight(change.weight, `d${change.id}`);
      const { ramp: _ramp, ...fields } = device;
      state.devices[change.id] = { ...fields, weight: change.weight };
      return;
    }
    case 'set-device': {
      const before = activeDevice(state, change.id);
      const device = withFields(before, change.fields);
      checkDeviceFields(device);
      releaseAddress(addresses, before);
      claimAddress(addresses, device);
      releaseKey(addresses, before);
      claimKey(addresses, device, before.key);
      state.devices[change.id] = device;
      return;
    }
    case 'hold': {
      const { hold: _hold, ...device } = activeDevice(state, change.id);
      const { hold } = change;
      state.devices[change.id] = hold === null ? device : { ...device, hold };
      return;
    }
    case 'ramp': {
      const { ramp: _ramp, ...device } = activeDevice(state, change.id);
      const { ramp } = change;
      if (ramp !== null) checkRamp(ramp, change.id);
      state.devices[change.id] = ramp === null ? device : { ...device, ramp };
      return;
    }
    case 'split':
    case 'merge':
    case 'retire':
      reshape(state, change);
      return;
    case 'pin':
      setPin(state, change.pin);
      return;
    case 'set':
      setSettings(state, change.settings);
      return;
    default:
      unreachable(change);
  }
}

function withFields(
  before: BuilderDevice,
  fields: Extract<Change, { kind: 'set-device' }>['fields'],
): BuilderDevice {
  const { key = '', replication = null, extra, ...after } = { ...before, ...fields };
  const { replication_ip: _ip, replication_port: _port, ...otherExtra } = extra ?? {};
  // Older imports kept the replication address among Swift's extra fields; a new one replaces it.
  const keptExtra = fields.replication === undefined ? extra : otherExtra;
  return {
    ...after,
    ...(key !== '' && { key }),
    ...(replication !== null && { replication }),
    ...(keptExtra !== undefined && Object.keys(keptExtra).length > 0 && { extra: keptExtra }),
  };
}

function addDevice(
  state: MutableState,
  { device, tokens: newTokens, replaces }: Extract<Change, { kind: 'add' }>,
  addresses: ClaimedAddresses,
): void {
  const id = state.devices.length;
  if (id >= deviceCountMax) {
    throw new CodedError(
      'VALUE_OUT_OF_RANGE',
      `the ring has ${id} device ids in use, at most ${deviceCountMax} are allowed`,
    );
  }
  if (device.id !== id) {
    throw new CodedError('DEVICE_INVALID', `device id ${device.id} is not the next one, ${id}`, {
      hint: 'ids are assigned in order and never reused',
      details: { id: device.id, next: id },
    });
  }
  checkDeviceFields(device);
  checkWeight(device.weight, formatDevice(device));
  claimAddress(addresses, device);
  const old = replaces === undefined ? null : replaceDevice(state, replaces, id);
  if (old !== null) releaseKey(addresses, old);
  claimKey(addresses, device);
  const tokens = tokensOf(state, newTokens ?? old?.tokens);
  const ramp = old?.ramp && { ramp: old.ramp };
  state.devices.push({ ...device, ...(tokens && { tokens }), ...ramp, state: 'active' });
}

function replaceDevice(state: MutableState, id: number, replacedBy: number): BuilderDevice {
  const device = activeDevice(state, id);
  state.devices[id] = { ...device, state: 'removed', replacedBy };
  const withReplacement = (ids: readonly number[]): number[] =>
    ids.map((one) => (one === id ? replacedBy : one));
  const pins = state.pins?.map(({ partition, on, off }) => {
    return { partition, on: withReplacement(on), off: withReplacement(off) };
  });
  givePins(state, pins ?? []);
  return device;
}

function setSettings(
  state: MutableState,
  settings: Extract<Change, { kind: 'set' }>['settings'],
): void {
  if (settings.minPartHours !== undefined) {
    checkMinPartHours(settings.minPartHours);
    state.minPartHours = settings.minPartHours;
  }
  if (settings.replicas !== undefined) {
    checkReplicas(settings.replicas, checkPartitioner(state.partitioner));
    state.replicas = settings.replicas;
  }
  if (settings.zonesMin !== undefined) {
    checkZonesMin(settings.zonesMin, settings.replicas ?? state.replicas);
    if (settings.zonesMin === 0) delete state.zonesMin;
    else state.zonesMin = settings.zonesMin;
  }
  const { partitionPower: power } = settings;
  if (power !== undefined) reshape(state, { kind: 'power', power });
  if (settings.restedThrough !== undefined) state.restedThrough = settings.restedThrough;
  if (settings.sizes === null) delete state.sizes;
  else if (settings.sizes !== undefined) state.sizes = settings.sizes;
  if (settings.overload !== undefined) {
    checkOverload(settings.overload);
    state.overload = settings.overload;
  }
}

function setPin(state: MutableState, pin: Pin): void {
  checkPin(state, pin);
  for (const id of [...pin.on, ...pin.off]) activeDevice(state, id);
  givePins(state, withPin(state.pins ?? [], pin));
}

function givePins(state: MutableState, pins: readonly Pin[]): void {
  if (pins.length === 0) delete state.pins;
  else state.pins = pins;
}

/**
 * Splits, merges or retires partitions. A change of md5-shift to the partition count that the ring
 * already has changes nothing, and no version reshapes the ring.
 */
function reshape(state: MutableState, change: ReshapeChange): void {
  const { partitioner, pins } = reshapedBy(state, change);
  const before = asIntervals(state.partitioner);
  if (before !== null && samePartitioner(before, partitioner)) return;
  state.partitioner = partitioner;
  givePins(state, pins);
}

function activeDevice(state: BuilderState, id: number): BuilderDevice {
  const device = state.devices[id];
  if (device?.state === 'active') return device;
  const ids = state.devices.flatMap((one) => (one?.state === 'active' ? [one.id] : []));
  const known = ids.map((one) => `d${one}`);
  const reason = device?.state === 'removed' ? 'is removed already' : 'is not in the ring';
  throw new CodedError('DEVICE_UNKNOWN', `d${id} ${reason}`, {
    hint:
      ids.length === 0 ? 'the ring has no devices' : `there are ${someOf(known, IDS_SHOWN_MAX)}`,
    details: { id, devices: ids },
  });
}

/** Throws VALUE_OUT_OF_RANGE for a weight that is neither 0 nor within deviceWeightMin … Max. */
function checkWeight(weight: number, name: string): void {
  if (weight === 0 || (weight >= deviceWeightMin && weight <= deviceWeightMax)) return;
  const [min, max] = [deviceWeightMin, deviceWeightMax];
  throw new CodedError(
    'VALUE_OUT_OF_RANGE',
    `weight ${weight} of ${name} must be 0 or between ${min} and ${max}`,
    { hint: 'weight 0 drains a device', details: { weight: String(weight), min, max } },
  );
}

/** Throws VALUE_OUT_OF_RANGE for a ramp that would never move or never end. */
function checkRamp({ target, step, fromHour, untilHour }: WeightRamp, id: number): void {
  checkWeight(target, `d${id}`);
  const hours = Number.isInteger(fromHour) && Number.isInteger(untilHour) && fromHour >= 0;
  if (step >= deviceWeightMin && step <= deviceWeightMax && hours && untilHour > fromHour) return;
  throw new CodedError(
    'VALUE_OUT_OF_RANGE',
    `the ramp of d${id} has step ${step} and hours ${fromHour} to ${untilHour}`,
    { details: { id, step: String(step), fromHour, untilHour } },
  );
}

const fieldsSchema = deviceSchema.omit({ id: true, weight: true });

/** Throws DEVICE_INVALID for fields that no server can have, and names the wrong field. */
function checkDeviceFields(device: Omit<Device, 'id' | 'weight'>): void {
  const parsed = fieldsSchema.safeParse(device, { reportInput: true });
  if (parsed.success) return;
  throw new CodedError(
    'DEVICE_INVALID',
    `the device has an invalid ${firstComplaint(parsed.error)}`,
    {
      hint: 'write it as r1z2-10.0.0.1:6200/sdb',
      details: { device },
    },
  );
}
