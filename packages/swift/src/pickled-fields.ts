// Typed access to the members of a pickled dictionary or instance of Swift. Pure.

import type { Device } from '@ringwright/ring/device';
import type { SlotRow } from '@ringwright/ring/ring';
import {
  kindOf,
  numberOf,
  type Pickled,
  type PickledDict,
  type PickledInstance,
} from './pickled.ts';
import { plainOfPickled } from './plain-of-pickled.ts';
import { deviceOfSwift, requireDeviceCount } from './swift-device.ts';
import { swiftInvalid } from './swift-file-error.ts';

export type Fields = ReadonlyMap<string, Pickled>;

/** Returns the members: newer files are a dictionary, the oldest ones an instance. */
export function fieldsOf(value: Pickled, className: string): Fields {
  if (isContainer(value) && (value.kind === 'dict' || value.name.endsWith(` ${className}`))) {
    return value.members;
  }
  throw swiftInvalid('what is pickled', kindOf(value), `a dictionary or a ${className}`);
}

function isContainer(value: Pickled): value is PickledDict | PickledInstance {
  return typeof value === 'object' && (value?.kind === 'dict' || value?.kind === 'instance');
}

/** Returns a number within the range; null when it is absent or None. */
export function optionalNumber(
  fields: Fields,
  name: string,
  [min, max]: readonly [number, number],
): number | null {
  const value = fields.get(name) ?? null;
  if (value === null) return null;
  const number = numberOf(value);
  if (number !== undefined && number >= min && number <= max) return number;
  throw swiftInvalid(name, number ?? kindOf(value), `${min} to ${max}`);
}

export function whole(fields: Fields, name: string, range: readonly [number, number]): number {
  const value = optionalWhole(fields, name, range);
  if (value === null) throw swiftInvalid(name, 'absent', `${range[0]} to ${range[1]}`);
  return value;
}

export function optionalWhole(
  fields: Fields,
  name: string,
  range: readonly [number, number],
): number | null {
  const value = optionalNumber(fields, name, range);
  if (value === null || Number.isInteger(value)) return value;
  throw swiftInvalid(name, value, 'a whole number');
}

export function items(fields: Fields, name: string): readonly Pickled[] {
  const value = fields.get(name);
  if (typeof value === 'object' && value?.kind === 'list') return value.items;
  throw swiftInvalid(name, kindOf(value), 'a list');
}

export function devices(fields: Fields): (Device | null)[] {
  const list = items(fields, 'devs');
  requireDeviceCount(list.length);
  // Converts one by one: an invalid device is refused before the next one is allocated.
  return list.map((device, index) => deviceOfSwift(plainOfPickled(device), index));
}

/** Returns rows of device ids: a list of arrays. */
export function rows(fields: Fields, name: string): SlotRow[] {
  return items(fields, name).map((row, replica) => {
    const found = typeof row === 'object' && row?.kind === 'array' ? row.items : null;
    if (found !== null && !(found instanceof Uint8Array)) return found;
    throw swiftInvalid(`row ${replica} of ${name}`, kindOf(row), 'an array of device ids');
  });
}
