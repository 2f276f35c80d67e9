// The folder of certificates: authority.pem, which clients get, and a bundle NAME.pem for each
// server. The authority's private key lies encrypted in the folder of the signing keys.
import { randomBytes, X509Certificate } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import {
  finalName,
  makeDirectoryPath,
  removeTemporaries,
  replaceDurably,
  replaceOwnFile,
} from '@ringwright/node/durable-files';
import type { TlsIdentity } from '@ringwright/node/link/prove-server';
import { nullIfMissing } from '@ringwright/node/missing-file';
import {
  generateKey,
  listKeys,
  loadKey,
  requirePassphrase,
} from '@ringwright/repository/signing-key';
import { type Arguments, usage } from '../cli/arguments.ts';
import type { Context } from '../cli/command.ts';
import { authorityName, nameAuthority } from './authority-name.ts';
import { type Authority, makeAuthority, spkiOfCertificate } from './certificate.ts';

export interface CertsFolder {
  readonly folder: string;
  /** Certificates in authority.pem: all are trusted, the first issues. Empty: no authority. */
  readonly authorities: readonly string[];
  /** The certificates of each bundle, by its name; the server's own comes first. */
  readonly bundles: ReadonlyMap<string, string>;
}

const pemPattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;

/** Throws USAGE if the folder lies inside the rings folder, because that is shared. */
export async function openCerts(args: Arguments, { rings }: Context): Promise<CertsFolder> {
  const folder = args.optionalText('certs') ?? join(rings, '..', 'certs');
  const relativePath = relative(rings, folder);
  if (!relativePath.startsWith('..') && !isAbsolute(relativePath)) {
    throw usage(
      `${folder} is inside ${rings}, which is shared`,
      'choose a folder outside it with --certs DIR',
    );
  }
  const bundles = new Map<string, string>();
  const files = (await readdir(folder).catch(nullIfMissing)) ?? [];
  for (const file of files.filter(isBundle).sort()) {
    const certificates = await readCertificates(join(folder, file));
    if (certificates.length > 0) bundles.set(file.slice(0, -'.pem'.length), certificates.join(''));
  }
  const authorities = (bundles.get(authorityName) ?? '').match(pemPattern) ?? [];
  bundles.delete(authorityName);
  return { folder, authorities, bundles };
}

/** A command that was killed leaves a temporary file of the authority. */
function isBundle(file: string): boolean {
  return file.endsWith('.pem') && finalName(file) === file;
}

/**
 * Throws CERTS_UNKNOWN, also if the authority has expired or is not valid yet: nobody would accept
 * what it issues. And SIGNING_KEY_UNKNOWN, SIGNING_KEY_LOCKED.
 */
export async function openAuthority(certs: CertsFolder, context: Context): Promise<Authority> {
  const [cert] = certs.authorities;
  if (cert === undefined) {
    throw new CodedError('CERTS_UNKNOWN', `${authorityPath(certs.folder)} does not exist`, {
      hint: 'ring-builder certs init creates an authority; --certs DIR selects another folder',
    });
  }
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const isEarly = context.nowMs() < validFromDate.getTime();
  if (isEarly || validToDate.getTime() <= context.nowMs()) {
    const end = isEarly
      ? `is not valid before ${validFromDate.toISOString()}`
      : `expired at ${validToDate.toISOString()}`;
    const what = `the certificate authority ${authorityNameOf(cert)} ${end}`;
    const rotate =
      'ring-builder certs rotate authority --step 1 creates the next one; then follow its steps';
    throw new CodedError('CERTS_UNKNOWN', what, {
      hint: isEarly ? `is the clock of this machine right? if it is, ${rotate}` : rotate,
    });
  }
  const spki = spkiOfCertificate(cert);
  const known = (await listKeys(context.keys.folder)).find((one) => one.spki === spki);
  const name = known?.name ?? authorityNameOf(cert);
  const { folder } = context.keys;
  return { cert, key: await loadKey(folder, name, () => context.keys.passphrase('open')) };
}

/**
 * Makes an authority with a random tag in its name. One folder of keys may serve several clusters,
 * which must not trust each other's certificates.
 */
export async function newAuthority(number: number, context: Context): Promise<Authority> {
  const name = nameAuthority(number, randomBytes(4).toString('hex'));
  const { folder } = context.keys;
  const passphrase = requirePassphrase(await context.keys.passphrase('create'), name);
  await generateKey(folder, name, passphrase);
  const key = await loadKey(folder, name, () => Promise.resolve(passphrase));
  return { cert: await makeAuthority(key, { name, nowMs: context.nowMs() }), key };
}

export function authorityNameOf(cert: string): string {
  return new X509Certificate(cert).subject.replace(/^CN=/, '');
}

export function authorityPath(folder: string): string {
  return join(folder, `${authorityName}.pem`);
}

export async function writeAuthorities(folder: string, certs: readonly string[]): Promise<void> {
  await makeDirectoryPath(folder, 0o700);
  await removeTemporaries(authorityPath(folder));
  await replaceDurably(authorityPath(folder), certs.join(''));
}

/**
 * Replaces the bundle by one rename, so that a server that reads the folder never sees half of it.
 */
export async function writeBundle(
  folder: string,
  name: string,
  { key, cert }: TlsIdentity,
): Promise<string> {
  const file = join(folder, `${name}.pem`);
  await replaceOwnFile(file, Buffer.from(key + cert));
  return file;
}

async function readCertificates(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).match(pemPattern) ?? [];
}
