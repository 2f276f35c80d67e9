// The key of a data directory: made once, never leaves it, signs the receipts of moves, and proves
// to other servers which device this is.
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { replaceOwnFile } from '@ringwright/node/durable-files';
import { readIfThere } from './state-file.ts';

export function deviceKeyFile(directory: string): string {
  return join(directory, 'device-key.pem');
}

/**
 * Unencrypted, mode 0600, so that a server can start by itself: whoever can read it can read the
 * records too. Throws DISK_FAILED if the key exists but cannot be read or used.
 */
export async function loadDeviceKey(directory: string): Promise<KeyObject> {
  const file = deviceKeyFile(directory);
  const stored = await readIfThere(file, (text) => {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === 'ed25519') return key;
    throw new Error(`its key is of type ${key.asymmetricKeyType}, not ed25519`);
  });
  if (stored !== null) return stored;
  const { privateKey } = generateKeyPairSync('ed25519');
  await replaceOwnFile(file, Buffer.from(privateKey.export({ format: 'pem', type: 'pkcs8' })));
  return privateKey;
}
