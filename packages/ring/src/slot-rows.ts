// The rows of a table as typed arrays: width of an id, new rows, writable copies. Pure.
import { assert } from '@ringwright/base/assert';
import { deviceIn, noDeviceIn, rowLengths, type SlotRow, type Table } from './ring.ts';

/** 65,535 stays free in two bytes: builders and Swift's files use it for "no device yet". */
const twoByteDeviceCountMax = 65_535;

/** Returns the bytes of a device id, for a device list of this length. */
export function deviceIdBytes(deviceCount: number): 2 | 4 {
  return deviceCount <= twoByteDeviceCountMax ? 2 : 4;
}

export function zeroRow(length: number, deviceCount: number): SlotRow {
  return deviceIdBytes(deviceCount) === 2 ? new Uint16Array(length) : new Uint32Array(length);
}

export function zeroTable(partitions: number, replicas: number, deviceCount: number): SlotRow[] {
  return rowLengths(partitions, replicas).map((length) => zeroRow(length, deviceCount));
}

/** Returns a copy of the table, with ids as wide as the device list needs. */
export function copyTable(table: Table, deviceCount: number): SlotRow[] {
  return table.map((row) => copyRow(row, zeroRow(row.length, deviceCount)));
}

/** Copies the row to the front of `copy`, whose ids may be wider. */
export function copyRow(row: SlotRow, copy: SlotRow): SlotRow {
  copy.set(row);
  const [was, is] = [noDeviceIn(row), noDeviceIn(copy)];
  if (was === is) return copy;
  for (let at = row.indexOf(was); at >= 0; at = row.indexOf(was, at + 1)) copy[at] = is;
  return copy;
}

/** Returns the device of a slot. Asserts that the table has it. */
export function deviceOf(table: Table, replica: number, partition: number): number {
  const row = table[replica];
  const device = row && deviceIn(row, partition);
  assert(device !== undefined, `no slot (${partition}, ${replica})`);
  return device;
}
