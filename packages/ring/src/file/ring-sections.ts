// The four sections that every ring file has: devices, assignments, moves, minVersions. Pure.
import { canonicalJson } from '@ringwright/base/canonical-json';
import {
  deviceCountMax,
  movesInFlightMax,
  ringDevicesSectionBytesMax,
} from '@ringwright/base/limits';
import { z } from 'zod';
import type { Device } from '../device.ts';
import { deviceSchema, firstComplaint } from '../device-fields.ts';
import type { Move, MoveState } from '../move.ts';
import { type SlotRow, slotCount, type Table } from '../ring.ts';
import { fileInvalid } from './ring-file-error.ts';
import { type Manifest, ringJson } from './ring-manifest.ts';
import { bytesOfRows, rowsOfBytes } from './row-bytes.ts';

const moveBytes = 28;
/** Stands for no device. Not a valid id, so files of rings without new slots are unchanged. */
const noDevice = 0xffff_ffff;
const stateNumbers: Record<MoveState, number> = { PROPOSED: 1, INITIALIZING: 2 };
const stateNames: Readonly<Record<number, MoveState>> = { 1: 'PROPOSED', 2: 'INITIALIZING' };
const devicesSchema = z.array(deviceSchema.nullable()).max(deviceCountMax);

/** Copies field by field, so that other members of the caller's objects do not enter the file. */
export function encodeDevices(devices: readonly (Device | null)[]): Buffer {
  const plain = devices.map((device) => {
    if (device === null) return null;
    const { id, region, zone, ip, port, device: name, weight, meta, ...optional } = device;
    const { key, replication, extra } = optional;
    return { id, region, zone, ip, port, device: name, weight, meta, key, replication, extra };
  });
  return Buffer.from(canonicalJson(plain));
}

export function decodeDevices(bytes: Uint8Array, count: number): (Device | null)[] {
  if (bytes.length > ringDevicesSectionBytesMax) {
    throw fileInvalid(
      'section devices',
      `${bytes.length} bytes`,
      `≤ ${ringDevicesSectionBytesMax}`,
    );
  }
  const parsed = devicesSchema.safeParse(ringJson(bytes, 'section devices'));
  if (!parsed.success) {
    throw fileInvalid('section devices', `invalid in ${firstComplaint(parsed.error)}`, 'devices');
  }
  if (parsed.data.length !== count) throw fileInvalid('device count', parsed.data.length, count);
  return parsed.data;
}

/** Device ids row after row, big-endian, `idBytes` each. */
export function encodeAssignments(table: Table, idBytes: 2 | 4): Buffer {
  return bytesOfRows(table, { idBytes, order: 'big' });
}

/** Checks the length against the manifest before it allocates memory. */
export function decodeAssignments(bytes: Uint8Array, manifest: Manifest): SlotRow[] {
  const { partitions, replicas, deviceIdBytes: idBytes } = manifest;
  const expectedBytes = slotCount(partitions, replicas) * idBytes;
  if (bytes.length !== expectedBytes || expectedBytes === 0) {
    throw fileInvalid('section assignments', `${bytes.length} bytes`, `${expectedBytes} bytes`);
  }
  return rowsOfBytes(bytes, { idBytes, order: 'big' }, partitions);
}

/** 28 bytes per move: partition, replica, from, to, state in 32 bits, the assignment in 64 bits. */
export function encodeMoves(moves: readonly Move[]): Buffer {
  const bytes = Buffer.allocUnsafe(moves.length * moveBytes);
  for (const [index, move] of moves.entries()) {
    const at = index * moveBytes;
    bytes.writeUInt32BE(move.partition, at);
    bytes.writeUInt32BE(move.replica, at + 4);
    bytes.writeUInt32BE(move.from ?? noDevice, at + 8);
    bytes.writeUInt32BE(move.to, at + 12);
    bytes.writeUInt32BE(stateNumbers[move.state], at + 16);
    bytes.writeBigUInt64BE(BigInt(move.assignment), at + 20);
  }
  return bytes;
}

export function decodeMoves(bytes: Buffer): Move[] {
  const count = bytes.length / moveBytes;
  if (!Number.isInteger(count) || count > movesInFlightMax) {
    throw fileInvalid('section moves', `${bytes.length} bytes`, `≤ ${movesInFlightMax} times 28`);
  }
  return Array.from({ length: count }, (_, index) => {
    const at = index * moveBytes;
    const state = stateNames[bytes.readUInt32BE(at + 16)];
    if (state === undefined)
      throw fileInvalid('state of a move', bytes.readUInt32BE(at + 16), '1 or 2');
    const from = bytes.readUInt32BE(at + 8);
    const assignment = Number(bytes.readBigUInt64BE(at + 20));
    if (!Number.isSafeInteger(assignment)) throw fileInvalid('assignment', assignment, '< 2^53');
    return {
      partition: bytes.readUInt32BE(at),
      replica: bytes.readUInt32BE(at + 4),
      from: from === noDevice ? null : from,
      to: bytes.readUInt32BE(at + 12),
      state,
      assignment,
    };
  });
}

const pairBytes = 8;

export function encodeRuns(values: Uint32Array): Buffer {
  const runs: number[] = [];
  for (let start = 0; start < values.length; ) {
    let end = start + 1;
    while (end < values.length && values[end] === values[start]) end += 1;
    runs.push(end - start, values[start] ?? 0);
    start = end;
  }
  const bytes = Buffer.allocUnsafe(runs.length * 4);
  for (const [index, word] of runs.entries()) bytes.writeUInt32BE(word, index * 4);
  return bytes;
}

/** Returns exactly `count` values. Checks a run before it fills it in. Throws RING_FILE_INVALID. */
export function decodeRuns(bytes: Buffer, count: number): Uint32Array {
  if (bytes.length % pairBytes !== 0 || bytes.length > count * pairBytes) {
    throw fileInvalid('length of section minVersions', bytes.length, `at most ${count} pairs of 8`);
  }
  const values = new Uint32Array(count);
  let filled = 0;
  let before = -1;
  for (let offset = 0; offset < bytes.length; offset += pairBytes) {
    const length = bytes.readUInt32BE(offset);
    const value = bytes.readUInt32BE(offset + 4);
    if (length === 0 || length > count - filled) {
      throw fileInvalid('a run of minVersions', length, `1 to ${count - filled} partitions`);
    }
    if (value === before)
      throw fileInvalid('a run of minVersions', `${value} again`, 'a new value');
    values.fill(value, filled, filled + length);
    filled += length;
    before = value;
  }
  if (filled !== count) throw fileInvalid('partitions with a minVersion', filled, count);
  return values;
}
