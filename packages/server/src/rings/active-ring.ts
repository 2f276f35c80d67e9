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
  /** What the manifest says of its signing; absent or null when it is unsigned. */
  readonly signing?: Signing | null;
  /** This device's id in the ring; null when the ring does not name it. */
  readonly self: number | null;
  /** Tie-break for stamps made here: of the device id and its data directory, see tieOf. */
  readonly tieDevice: number;
  readonly partitionOf: (key: Uint8Array) => number;
  readonly activatedMs: number;
}

/** Stamps of coordinators outside the ring use the upper half of the 24-bit tie-break. */
const UNKNOWN_DEVICE_BASE = 2 ** 23;
/** Devices use the lower half: their id in these low bits, and above them a mark of their disk. */
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

/** The address of a device, or the empty text for a hole, which no connection is ever made to. */
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
 * Never equal on two devices. A device that was wiped has forgotten which stamps it gave, and some
 * may lie ahead of its clock: so that it does not give one again, its new disk has another mark, in
 * 63 of 64 cases.
 */
function tieOf(self: number | null, { born }: DeviceIdentity): number {
  const mark = hash32(born);
  if (self === null) return UNKNOWN_DEVICE_BASE + (mark % UNKNOWN_DEVICE_BASE);
  return ID_SPAN * (mark % MARKS) + self;
}

function hash32(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}
