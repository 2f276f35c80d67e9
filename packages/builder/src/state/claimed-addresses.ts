// Tracks the addresses and keys of devices while changes are applied: no two devices may share one.
// Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { comparableAddress, formatAddress } from '@ringwright/base/server-address';
import { type Device, formatDevice } from '@ringwright/ring/device';
import type { BuilderDevice } from './builder-state.ts';

/** Devices by name within a server, by address of their server, and by key if active. */
export type ClaimedAddresses = Map<string, Device>;

export function addressesOf(devices: readonly (BuilderDevice | null)[]): ClaimedAddresses {
  const claimed: ClaimedAddresses = new Map();
  for (const device of devices) {
    if (device === null) continue;
    note(claimed, device);
    // The disk of a removed device may return as a new device.
    if (device.key !== undefined && device.state === 'active') claimed.set(device.key, device);
  }
  return claimed;
}

/** Throws DEVICE_DUPLICATE when another active device has the key: a key belongs to one disk. */
export function claimKey(claimed: ClaimedAddresses, device: Device, previousKey?: string): void {
  const { key } = device;
  if (key === undefined) return;
  const owner = claimed.get(key);
  if (owner !== undefined && owner.id !== device.id && key !== previousKey) {
    const address = formatAddress(owner);
    const named = `d${owner.id} ${formatDevice(owner)}`;
    const message = `the key of ${formatDevice(device)} belongs to ${named}: this is the disk of`;
    throw new CodedError('DEVICE_DUPLICATE', `${message} d${owner.id}`, {
      hint: `start the disk of d${owner.id} at ${address}, as in the ring, and the right disk here`,
      details: { twin: owner.id },
    });
  }
  claimed.set(key, device);
}

export function releaseKey(claimed: ClaimedAddresses, { id, key }: Device): void {
  if (key !== undefined && claimed.get(key)?.id === id) claimed.delete(key);
}

/**
 * Throws DEVICE_DUPLICATE for a name that its server already has, and for a replication address
 * that belongs to another server: copies from there would contain another device's data.
 */
export function claimAddress(claimed: ClaimedAddresses, device: Device): void {
  const twin = claimed.get(nameOf(device));
  if (twin !== undefined) {
    throw new CodedError('DEVICE_DUPLICATE', `${formatDevice(device)} is already d${twin.id}`, {
      hint: 'a removed device keeps its address until its slots have moved away',
      details: { twin: twin.id },
    });
  }
  for (const address of listenAddressesOf(device)) {
    const other = claimed.get(address);
    if (other === undefined || comparableAddress(other) === comparableAddress(device)) continue;
    const message = `${address} of ${formatDevice(device)} is already an address of d${other.id}`;
    throw new CodedError('DEVICE_DUPLICATE', `${message}: ${formatDevice(other)}`, {
      hint: 'every server needs its own replication address',
      details: { address, twin: other.id },
    });
  }
  note(claimed, device);
}

export function releaseAddress(claimed: ClaimedAddresses, device: Device): void {
  for (const address of [nameOf(device), ...listenAddressesOf(device)]) {
    if (claimed.get(address)?.id === device.id) claimed.delete(address);
  }
}

function note(claimed: ClaimedAddresses, device: Device): void {
  for (const address of [nameOf(device), ...listenAddressesOf(device)])
    claimed.set(address, device);
}

/** Identifies one server process and one data directory, whatever region and zone it claims. */
function nameOf(device: Device): string {
  return JSON.stringify([comparableAddress(device), device.device]);
}

function listenAddressesOf(device: Device): string[] {
  return [device, device.replication ?? device].map(comparableAddress);
}
