// The proofs that a command requires of servers, and the credentials it shows. Servers prove the
// keys that the folder's rings name for their addresses. At other addresses the operator's options
// count. Everything a command calls needs the same proofs, so they are kept in an AsyncLocalStorage
// instead of being passed as arguments.
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFile } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import type { ServerProof, TlsIdentity } from '@ringwright/node/link/prove-server';
import { parseBuilderFile, stagedChanges } from '@ringwright/repository/folder/builder-file';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import type { Device } from '@ringwright/ring/device';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { Answer, Context } from '../cli/command.ts';

export interface Trusted {
  /** The folder of rings. */
  readonly rings: string;
  /** Path of a PEM file with certificates of authorities. */
  readonly ca?: string | undefined;
  /** SHA-256 of a server's public key, from keyFingerprint; null: none. */
  readonly fingerprint?: string | null;
  /** The token ID.SECRET that is shown to every server; null: none. */
  readonly token?: string | null;
  /** A client certificate with its key, shown to every server; null: none. */
  readonly identity?: TlsIdentity | null;
}

type KeysByAddress = ReadonlyMap<string, ReadonlySet<string>>;

interface Proofs {
  readonly trusted: Trusted;
  /** Read once, when the first server is asked. */
  keys: Promise<KeysByAddress> | null;
  /** For each contacted server: whether other machines reach it without TLS, trust or access. */
  readonly insecure: Map<string, boolean | 'unasked'>;
}

const current = new AsyncLocalStorage<Proofs>();

/**
 * Runs the work of a command with these proofs for all its calls. Reports the servers that are
 * unprotected, even if the work fails.
 */
export async function withProofs(
  trusted: Trusted,
  { tell }: Pick<Context, 'tell'>,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const insecure: Proofs['insecure'] = new Map();
  try {
    return await current.run({ trusted, keys: null, insecure }, work);
  } finally {
    const servers = [...insecure.keys()]
      .filter((one) => insecure.get(one) === true)
      .sort()
      .join(', ');
    if (servers)
      tell(`unprotected (--insecure-listen): anyone who can reach ${servers} may do everything`);
  }
}

/**
 * Records whether the server was started with --insecure-listen; `unasked`: it was contacted but
 * did not say.
 */
export function noteInsecure(address: string, insecure: boolean | 'unasked'): void {
  const noted = current.getStore()?.insecure;
  if (insecure !== 'unasked' || noted?.has(address) === false) noted?.set(address, insecure);
}

/** Returns the contacted servers whose status has not been read. */
export function unasked(): string[] {
  const noted = [...(current.getStore()?.insecure ?? [])];
  return noted.flatMap(([address, insecure]) => (insecure === 'unasked' ? [address] : []));
}

/** Returns null if the server has nothing to prove and is called without TLS. Throws USAGE. */
export async function proofOf(address: string): Promise<ServerProof | null> {
  const proofs = current.getStore();
  if (proofs === undefined) return null;
  proofs.keys ??= keysOfRings(proofs.trusted.rings);
  const keys = (await proofs.keys).get(address);
  if (keys !== undefined) return { by: 'device', keys };
  const { ca, fingerprint } = proofs.trusted;
  if (fingerprint) return { by: 'key', keys: new Set([fingerprint]) };
  if (ca === undefined) return null;
  const text = await readFile(ca, 'utf8').catch((cause: unknown) => {
    throw new CodedError('USAGE', `--ca ${ca} cannot be read`, { cause });
  });
  if (!certificateMark.test(text)) {
    throw new CodedError('USAGE', `--ca ${ca} contains no certificate`, {
      hint: 'use the CA certificate of the servers, in PEM: certs/authority.pem from certs init',
    });
  }
  return { by: 'authority', ca: text };
}

/** The first line of a PEM certificate, including variants of old OpenSSL. */
const certificateMark = /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/;

export function shownToken(): string | null {
  return current.getStore()?.trusted.token ?? null;
}

export function shownIdentity(): TlsIdentity | null {
  return current.getStore()?.trusted.identity ?? null;
}

/** Collects keys from ring heads and staged changes. An unreadable file contributes none. */
async function keysOfRings(rings: string): Promise<KeysByAddress> {
  const all = new Map<string, Set<string>>();
  const note = ({ ip, port, key }: Pick<Device, 'ip' | 'port' | 'key'>): void => {
    if (key === undefined || key === '') return;
    const address = formatAddress({ ip, port });
    all.set(address, (all.get(address) ?? new Set<string>()).add(keyIdOf(key)));
  };
  for (const ring of await listRings(rings)) {
    const text = await readFile(ringFolder(rings, ring).builder, 'utf8').catch(() => '');
    const file = parseBuilderFile(text);
    if (typeof file === 'string') continue; // opening the ring reports it
    const { devices } = file.state;
    for (const device of devices) if (device !== null) note(device);
    for (const change of stagedChanges(file.staged)) {
      if (change.kind === 'add') note(change.device);
      const device = change.kind === 'set-device' ? devices[change.id] : null;
      if (change.kind === 'set-device' && device) note({ ...device, ...change.fields });
    }
  }
  return all;
}
