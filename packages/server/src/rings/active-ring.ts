// A ring as a server uses it: decoded, with the bytes to relay and this device's id in it. Pure.
import { createHash } from 'node:crypto';
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
  /** Tie-break for stamps made here: the device id, or a number no device has. */
  readonly tieDevice: number;
  readonly partitionOf: (key: Uint8Array) => number;
  readonly activatedMs: number;
}

/** Stamps of coordinators outside the ring use the upper half of the 24-bit tie-break. */
const UNKNOWN_DEVICE_BASE = 2 ** 23;

export function activeRing(
  decoded: Pick<ActiveRing, 'ring' | 'id' | 'bytes' | 'signing'>,
  identity: DeviceIdentity,
  nowMs: number,
): ActiveRing {
  const self = findSelf(decoded.ring.devices, identity);
  const tieDevice = self ?? UNKNOWN_DEVICE_BASE + (hash32(identity.born) % UNKNOWN_DEVICE_BASE);
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

function hash32(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}
