// Private signing keys on disk: PKCS8, mode 0600, one file each beside its public half, encrypted
// if there is a passphrase. They never lie in a rings folder, which is made to be committed to git.
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { keyFileBytesMax, passphraseCharactersMin } from '@ringwright/base/limits';
import {
  addDurably,
  makeDirectoryPath,
  removeTemporaries,
  replaceOwnFile,
  temporaryPrefix,
} from '@ringwright/node/durable-files';
import { exists, nullIfMissing } from '@ringwright/node/missing-file';
import {
  readRegularFile,
  readRegularText,
  requireRegular,
} from '@ringwright/node/read-regular-file';
import { keyIdOf, publicKeyOf, spkiOf } from '@ringwright/ring/trust/public-key';
import { keyNameSchema } from '@ringwright/ring/trust/trust-root';

export interface KnownKey {
  readonly name: string;
  readonly id: string;
  /** SPKI bytes in base64. */
  readonly spki: string;
}

/** Throws NAME_INVALID. */
export function requireKeyName(name: string): void {
  if (keyNameSchema.safeParse(name).success) return;
  throw new CodedError('NAME_INVALID', `key name ${JSON.stringify(name)} is not [a-z0-9-]`, {
    hint: 'such as ada, or build-machine-2: at most 63 characters, beginning with a-z or 0-9',
  });
}

/** Returns the passphrase; called only for an encrypted key. Null: unknown. */
type Passphrase = () => Promise<string | null>;

/**
 * Makes a key pair. Durable when it returns. Without a passphrase it is not encrypted. A private
 * half without a public one, as a crash leaves it, gets its public half. Throws NAME_INVALID,
 * SIGNING_KEY_EXISTS, SIGNING_KEY_LOCKED for a weak passphrase or not that of the private half.
 */
export async function generateKey(
  folder: string,
  name: string,
  passphrase: string | null,
): Promise<KnownKey> {
  requireKeyName(name);
  if (passphrase !== null) requireStrong(passphrase);
  const path = keyPath(folder, name);
  const publicPath = join(folder, `${name}.pub`);
  if (await exists(publicPath)) throw keyExists(name, publicPath);
  const { privateKey } = generateKeyPairSync('ed25519');
  await makeDirectoryPath(folder, 0o700);
  await removeTemporaries(path);
  const isAdded = await addDurably(path, pemOf(privateKey, passphrase), 0o600);
  const key = isAdded ? privateKey : await loadKey(folder, name, async () => passphrase);
  const spki = spkiOf(key);
  if (!(await addDurably(publicPath, `${spki}\n`, 0o600))) throw keyExists(name, publicPath);
  return { name, id: keyIdOf(spki), spki };
}

/** Returns the keys of a folder, sorted by name. Needs no passphrase. */
export async function listKeys(folder: string): Promise<KnownKey[]> {
  const names = (await readdir(folder).catch(nullIfMissing)) ?? [];
  const keys: KnownKey[] = [];
  for (const file of names.filter(isPublicKey).sort()) {
    const spki = (await readRegularText(join(folder, file))).trim();
    if (publicKeyOf(spki) === null) continue;
    keys.push({ name: file.slice(0, -'.pub'.length), id: keyIdOf(spki), spki });
  }
  return keys;
}

/**
 * Returns the private half. Throws SIGNING_KEY_UNKNOWN, and SIGNING_KEY_LOCKED if the passphrase is
 * missing or wrong, or if others may read the file.
 */
export async function loadKey(
  folder: string,
  name: string,
  passphrase: Passphrase,
): Promise<KeyObject> {
  const key = await readKey(folder, name);
  if (!isEncrypted(key)) return createPrivateKey(key);
  const secret = requirePassphrase(await passphrase(), name);
  try {
    return createPrivateKey({ key, format: 'pem', passphrase: secret });
  } catch {
    throw locked(`wrong passphrase for key ${name}`);
  }
}

/** Encrypts an unencrypted private half; returns false if it was encrypted. Throws as loadKey. */
export async function protectKey(
  folder: string,
  name: string,
  passphrase: Passphrase,
): Promise<boolean> {
  const key = await readKey(folder, name);
  if (isEncrypted(key)) return false;
  const secret = requirePassphrase(await passphrase(), name);
  requireStrong(secret);
  await removeTemporaries(keyPath(folder, name)); // may be a second link to the unencrypted key
  await replaceOwnFile(keyPath(folder, name), Buffer.from(pemOf(createPrivateKey(key), secret)));
  return true;
}

/** Throws SIGNING_KEY_LOCKED if there is no passphrase and nobody could be asked. */
export function requirePassphrase(passphrase: string | null, name: string): string {
  if (passphrase !== null) return passphrase;
  throw locked(`key ${name} needs a passphrase`);
}

async function readKey(folder: string, name: string): Promise<Buffer> {
  const path = keyPath(folder, name);
  const found = await stat(path).catch(nullIfMissing);
  if (found === null || found.size > keyFileBytesMax) {
    throw new CodedError('SIGNING_KEY_UNKNOWN', `the private key of ${name} is not here`, {
      hint: `expected at ${path}; --key-folder DIR selects another folder`,
      details: { name, path },
    });
  }
  requireRegular(path, found);
  if ((found.mode & 0o077) !== 0) {
    const mode = (found.mode & 0o777).toString(8);
    throw locked(`${path} has mode ${mode}: other users may read it`, `chmod 600 ${path}`);
  }
  return readRegularFile(path, keyFileBytesMax);
}

function pemOf(key: KeyObject, passphrase: string | null): string {
  const cipher = passphrase === null ? {} : { cipher: 'aes-256-cbc', passphrase };
  return key.export({ type: 'pkcs8', format: 'pem', ...cipher }).toString();
}

function isEncrypted(pem: Buffer): boolean {
  return pem.includes('BEGIN ENCRYPTED PRIVATE KEY');
}

function requireStrong(passphrase: string): void {
  if (passphrase.length >= passphraseCharactersMin) return;
  throw locked(
    `the passphrase has ${passphrase.length} characters, expected at least ${passphraseCharactersMin}`,
  );
}

function keyExists(name: string, path: string): CodedError {
  return new CodedError('SIGNING_KEY_EXISTS', `key ${name} already exists: ${path}`, {
    hint: 'choose another name; removing the file may lose a key in use for good',
    details: { name, path },
  });
}

function isPublicKey(file: string): boolean {
  return file.endsWith('.pub') && !file.startsWith(temporaryPrefix);
}

function keyPath(folder: string, name: string): string {
  return join(folder, `${name}.key`);
}

function locked(
  message: string,
  hint = 'set RING_BUILDER_PASSPHRASE=… before the command, or use --passphrase-file FILE',
): CodedError {
  return new CodedError('SIGNING_KEY_LOCKED', message, { hint });
}
