// Which device a data directory belongs to: device.json, written once, checked at every start.
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import type { Address } from '@ringwright/base/server-address';
import { z } from 'zod';
import { readState, writeState } from './state-file.ts';

const identitySchema = z.strictObject({
  format: z.literal(1),
  /** Device name, or the address when no name was given. */
  device: z.string(),
  /** Random id of this directory: a wiped device starts with another one. */
  born: z.string(),
});

export function identityFile(directory: string): string {
  return join(directory, 'device.json');
}

export interface DeviceIdentity {
  /** Null when the device is known by its address alone. */
  readonly name: string | null;
  readonly address: Address;
  readonly born: string;
}

/**
 * Reads or creates device.json. Throws DATA_DIR_OF_ANOTHER_DEVICE if it names another device, and
 * DISK_FAILED if it exists but cannot be read: a new identity would make this a wiped device.
 */
export async function loadIdentity(
  directory: string,
  address: Address,
  name: string | undefined,
): Promise<DeviceIdentity> {
  const file = identityFile(directory);
  const device = name ?? `${address.ip}:${address.port}`;
  await mkdir(directory, { recursive: true });
  const stored = await storedIdentity(directory);
  if (stored === null) {
    const born = randomBytes(16).toString('hex');
    await writeState(file, identitySchema, { format: 1, device, born });
    return { name: name ?? null, address, born };
  }
  if (stored.device !== device) {
    const message = `${directory} belongs to device '${stored.device}', not to '${device}'`;
    throw new CodedError('DATA_DIR_OF_ANOTHER_DEVICE', message, {
      hint: 'start with the device name or address it was created with, or choose another --data',
      details: { directory, stored: stored.device, given: device },
    });
  }
  return { name: name ?? null, address, born: stored.born };
}

/** Returns the content of device.json; null if there is none. Throws DISK_FAILED. */
export function storedIdentity(directory: string): Promise<z.infer<typeof identitySchema> | null> {
  return readState(identityFile(directory), identitySchema);
}

/** Copies device.json into a folder that has none. Throws DISK_FULL, DISK_FAILED. */
export async function copyIdentity(directory: string, folder: string): Promise<void> {
  const identity = await storedIdentity(directory);
  if (identity === null || (await storedIdentity(folder)) !== null) return;
  await writeState(identityFile(folder), identitySchema, identity);
}
