// A device: one data directory served by one ring-server process, with its failure domains. Pure.
import type { Json } from '@ringwright/base/canonical-json';
import { type Address, formatAddress } from '@ringwright/base/server-address';

export interface Device {
  /** Index in the ring's device list; never used again after the device is gone. */
  readonly id: number;
  readonly region: number;
  readonly zone: number;
  /** IPv4, IPv6 (no brackets) or host name. Devices of one ip form a server, the third tier. */
  readonly ip: string;
  readonly port: number;
  /** Device name on its server, such as `sdb`. */
  readonly device: string;
  /** Wanted amount of data, relative to the other devices; 0 drains the device. */
  readonly weight: number;
  readonly meta: string;
  /**
   * The device's public key: an ed25519 key as SPKI bytes in base64. If present, a peer must prove
   * possession of it to be accepted as this device. Absent: no proof is needed.
   */
  readonly key?: string;
  /** Address from which other servers copy and repair, instead of ip and port. */
  readonly replication?: Address;
  /** Fields of other systems: kept, not used. Never empty. */
  readonly extra?: DeviceExtra;
}

export type DeviceExtra = { readonly [field: string]: Json };

/** Formats a device as Swift does: `r1z2-10.0.0.1:6200/sdb`, or `…:6200R10.1.0.1:6300/sdb`. */
export function formatDevice(device: Omit<Device, 'id' | 'weight' | 'meta'>): string {
  const { region, zone, replication, device: name } = device;
  const copies = replication === undefined ? '' : `R${formatAddress(replication)}`;
  return `r${region}z${zone}-${formatAddress(device)}${copies}/${name}`;
}

export type Purpose = 'requests' | 'replication';

/** Returns the address where other servers reach a device for requests or replication. */
export function addressFor(purpose: Purpose, device: Device): Address {
  return purpose === 'replication' ? (device.replication ?? device) : device;
}
