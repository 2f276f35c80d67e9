// A device: one data directory served by one ring-server process, with its failure domains. Pure.
import type { Json } from '@ringwright/base/canonical-json';
import { formatAddress } from '@ringwright/base/server-address';

export interface Device {
  /** Index in the ring's device list; never used again after the device is gone. */
  readonly id: number;
  readonly region: number;
  readonly zone: number;
  /** IPv4, IPv6 (without brackets) or host name. Devices of one ip form a server, the third tier. */
  readonly ip: string;
  readonly port: number;
  /** Device name on its server, such as `sdb`. */
  readonly device: string;
  /** Share of data wanted, relative to the other devices; 0 drains. */
  readonly weight: number;
  readonly meta: string;
  /**
   * The device's public key: an ed25519 key as SPKI bytes in base64. Where a ring has it, only who
   * proves that key speaks as this device. Absent: nobody has to.
   */
  readonly key?: string;
  /** Fields of other systems, such as Swift's replication_ip: kept, not used. Never empty. */
  readonly extra?: DeviceExtra;
}

export type DeviceExtra = { readonly [field: string]: Json };

/** Swift's way to write a device: `r1z2-10.0.0.1:6200/sdb`. */
export function formatDevice(device: Omit<Device, 'id' | 'weight' | 'meta'>): string {
  return `r${device.region}z${device.zone}-${formatAddress(device)}/${device.device}`;
}
