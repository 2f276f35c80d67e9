// Which device has which address while changes are applied: no two may share one. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import { type Device, formatDevice } from '@ringwright/ring/device';

/** By name within a server, and by what servers are reached at. */
export type ClaimedAddresses = Map<string, Device>;

export function addressesOf(devices: readonly (Device | null)[]): ClaimedAddresses {
  const claimed: ClaimedAddresses = new Map();
  for (const device of devices) if (device !== null) note(claimed, device);
  return claimed;
}

/**
 * Throws DEVICE_DUPLICATE for a name that its server has twice, and for a replication address at
 * which another server is reached: what is copied from there would be another device's.
 */
export function claimAddress(claimed: ClaimedAddresses, device: Device): void {
  const twin = claimed.get(nameOf(device));
  if (twin !== undefined) {
    throw new CodedError('DEVICE_DUPLICATE', `${formatDevice(device)} is d${twin.id} already`, {
      hint: 'a removed device keeps its address until its slots have moved away',
      details: { twin: twin.id },
    });
  }
  for (const address of doorsOf(device)) {
    const other = claimed.get(address);
    if (other === undefined || formatAddress(other) === formatAddress(device)) continue;
    const message = `${address} of ${formatDevice(device)} is an address of d${other.id} already`;
    throw new CodedError('DEVICE_DUPLICATE', `${message}: ${formatDevice(other)}`, {
      hint: 'a replication address is of one server',
      details: { address, twin: other.id },
    });
  }
  note(claimed, device);
}

export function releaseAddress(claimed: ClaimedAddresses, device: Device): void {
  for (const address of [nameOf(device), ...doorsOf(device)]) {
    if (claimed.get(address)?.id === device.id) claimed.delete(address);
  }
}

function note(claimed: ClaimedAddresses, device: Device): void {
  for (const address of [nameOf(device), ...doorsOf(device)]) claimed.set(address, device);
}

/** One of them is one server process and one data directory, whatever region and zone it claims. */
function nameOf({ ip, port, device }: Device): string {
  return JSON.stringify([ip, port, device]);
}

function doorsOf(device: Device): string[] {
  return [device, device.replication ?? device].map(formatAddress);
}
