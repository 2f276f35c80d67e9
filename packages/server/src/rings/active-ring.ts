// A ring as a server uses it: decoded, with the bytes to relay and this device's id in it. Pure.
import { createHash } from 'node:crypto';
import { assert } from '@ringwright/base/assert';
import { deviceCountMax } from '@ringwright/base/limits';
import { formatAddress } from '@ringwright/base/server-address';
import type { Device } from '@ringwright/ring/device';
import type { Signing } from '@ringwright/ring/file/ring-manifest';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Ring } from '@ringwright/ring/ring';
import type { RingHead } from '@ringwright/wire/hello';
import type { DeviceIdentity } from '../device/device-identity.ts';

export interface ActiveRing {
  readonly ring: Ring;
  readonly id: string;
  readonly bytes: Uint8Array;
  /** What the manifest says about its signing; absent or null for an unsigned ring. */
  readonly signing?: Signing | null;
  /** This device's id in the ring; null when the ring does not name it. */
  readonly self: number | null;
  /** Tie-break of stamps made here, from the device id and the data directory: see tieOf. */
  readonly tieDevice: number;
  readonly partitionOf: (key: Uint8Array) => number;
  readonly activatedMs: number;
}

/** Stamps of coordinators outside the ring use the upper half of the 24-bit tie-break. */
const UNKNOWN_DEVICE_BASE = 2 ** 23;
/** Devices use the lower half: the low bits are the device id, the bits above mark the disk. */
const ID_SPAN = 2 ** 17;
const MARKS = UNKNOWN_DEVICE_BASE / ID_SPAN;
assert(deviceCountMax <= ID_SPAN, 'ids of devices fit the tie-break');

export function activeRing(
  decoded: Pick<ActiveRing, 'ring' | 'id' | 'bytes' | 'signing'>,
  identity: DeviceIdentity,
  nowMs: number,
): ActiveRing {
  const self = findSelf(decoded.ring.devices, identity);
  const tieDevice = tieOf(self, identity);
  const partitionOf = partitionerOf(decoded.ring.partitioner);
  return { ...decoded, self, tieDevice, partitionOf, activatedMs: nowMs };
}

export function ringHead(active: ActiveRing): RingHead {
  return { keyspace: active.ring.keyspace, version: active.ring.version, id: active.id };
}

/**
 * Returns the address of a device. For a hole, returns the empty text, which is never connected to.
 */
export function addressOf({ ring }: Pick<ActiveRing, 'ring'>, id: number): string {
  const device = ring.devices[id];
  return device === null || device === undefined ? '' : formatAddress(device);
}

function findSelf(devices: Ring['devices'], { name, address }: DeviceIdentity): number | null {
  const isSelf = (device: Device | null): boolean =>
    device !== null &&
    device.ip === address.ip &&
    device.port === address.port &&
    (name === null || device.device === name);
  const found = devices.find(isSelf);
  return found?.id ?? null;
}

/**
 * Returns a tie-break that no two devices share. A device that was wiped has forgotten which stamps
 * it issued, and some may lie ahead of its clock. In 63 of 64 cases its new disk has another mark,
 * so that it issues none of them again.
 */
function tieOf(self: number | null, { born }: DeviceIdentity): number {
  const mark = hash32(born);
  if (self === null) return UNKNOWN_DEVICE_BASE + (mark % UNKNOWN_DEVICE_BASE);
  return ID_SPAN * (mark % MARKS) + self;
}

function hash32(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}
