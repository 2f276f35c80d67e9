// The proofs that a command requires of servers, and the credentials it shows. Servers prove the
// keys that the folder's rings name for their addresses. At other addresses the operator's options
// count. Everything a command calls needs the same proofs, so they are kept in an AsyncLocalStorage
// instead of being passed as arguments.
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFile } from 'node:fs/promises';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import type { ServerProof, TlsIdentity } from '@ringwright/node/link/prove-server';
import {
  type BuilderFile,
  parseBuilderFile,
  stagedChanges,
} from '@ringwright/repository/folder/builder-file';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { headSignatures } from '@ringwright/repository/head-signers';
import type { Device } from '@ringwright/ring/device';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { Trust } from '@ringwright/ring/trust/trust-root';
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

/** What the folder says about an address. */
interface Named {
  readonly keys: ReadonlySet<string>;
  /**
   * Whether a token may be shown there: rings are unsigned, or a signed head names the address and
   * all keys.
   */
  readonly vouched: boolean;
}

type NamedByAddress = ReadonlyMap<string, Named>;

/** What a connection to a server proves and shows. */
export interface Credentials {
  /** Null: the server has nothing to prove and is called without TLS. */
  readonly proof: ServerProof | null;
  readonly token: string | null;
  readonly identity: TlsIdentity | null;
}

interface Proofs {
  readonly trusted: Trusted;
  /** Read once, when the first server is asked. */
  named: Promise<NamedByAddress> | null;
  /** For each contacted server: whether other machines reach it without TLS, trust or access. */
  readonly insecure: Map<string, boolean | 'unasked'>;
  /** Addresses to which the token was not shown. */
  readonly withheld: Set<string>;
  readonly tell: Context['tell'];
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
  const withheld: Proofs['withheld'] = new Set();
  try {
    return await current.run({ trusted, named: null, insecure, withheld, tell }, work);
  } finally {
    const servers = [...insecure.keys()]
      .filter((one) => insecure.get(one) === true)
      .sort()
      .join(', ');
    if (servers)
      tell(`unprotected (--insecure-listen): anyone who can reach ${servers} may do everything`);
    if (withheld.size > 0)
      tell(
        `the token was not sent to ${[...withheld].sort().join(', ')}: no signed head names that ` +
          'server and its key; --fingerprint vouches for one',
      );
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

/** Returns what prints a line of progress of the running command; null: no command is running. */
export function progressLines(): Context['tell'] | null {
  return current.getStore()?.tell ?? null;
}

/** Returns the contacted servers whose status has not been read. */
export function unasked(): string[] {
  const noted = [...(current.getStore()?.insecure ?? [])];
  return noted.flatMap(([address, insecure]) => (insecure === 'unasked' ? [address] : []));
}

/** Throws USAGE. */
export async function credentialsFor(address: string): Promise<Credentials> {
  const proofs = current.getStore();
  if (proofs === undefined) return { proof: null, token: null, identity: null };
  const { trusted, withheld } = proofs;
  const { fingerprint = null, token = null, identity = null } = trusted;
  proofs.named ??= namedByRings(trusted.rings);
  const named = (await proofs.named).get(address);
  const proof = await proofAt(trusted, named?.keys ?? new Set());
  const isTyped = fingerprint !== null && proof?.by !== 'authority' && proof?.keys.has(fingerprint);
  const mayKnow = named === undefined || named.vouched || isTyped || proof?.by === 'authority';
  if (!mayKnow && token !== null) withheld.add(address);
  return { proof, token: mayKnow ? token : null, identity };
}

async function proofAt(
  { ca, fingerprint }: Trusted,
  keys: ReadonlySet<string>,
): Promise<ServerProof | null> {
  if (keys.size > 0) return { by: 'device', keys };
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

type Place = Pick<Device, 'ip' | 'port' | 'key'>;

/**
 * Collects addresses and keys from ring heads and staged changes. An unreadable file contributes
 * none. In a signed folder only signed heads vouch, since anyone who can write there can edit the
 * rest.
 */
async function namedByRings(rings: string): Promise<NamedByAddress> {
  // Under a damaged trust.json, nothing vouches for a server.
  const trust = await resultOrError(readTrust(rings));
  const roots = trust instanceof CodedError ? [] : (trust?.roots ?? null);
  const places: { readonly place: Place; readonly vouched: boolean }[] = [];
  for (const ring of await listRings(rings)) {
    const text = await readFile(ringFolder(rings, ring).builder, 'utf8').catch(() => '');
    const file = parseBuilderFile(text);
    const signed = roots === null ? [] : await signedPlaces(rings, ring, roots);
    const edited = typeof file === 'string' ? [] : placesOf(file); // opening the ring reports it
    places.push(...signed.map((place) => ({ place, vouched: true })));
    places.push(...edited.map((place) => ({ place, vouched: roots === null })));
  }
  const named = new Map<string, Named>();
  for (const { place, vouched } of places.sort((a, b) => Number(b.vouched) - Number(a.vouched))) {
    const address = formatAddress(place);
    const found = named.get(address);
    const key = place.key === undefined || place.key === '' ? [] : [keyIdOf(place.key)];
    const isNew = key.some((one) => found?.keys.has(one) !== true);
    named.set(address, {
      keys: new Set([...(found?.keys ?? []), ...key]),
      vouched: vouched || (found?.vouched === true && !isNew),
    });
  }
  return named;
}

async function signedPlaces(
  rings: string,
  ring: string,
  roots: readonly Trust[],
): Promise<readonly Place[]> {
  const signatures = await headSignatures(rings, ring, roots).catch(() => null);
  if (signatures === null || signatures.signers.size === 0) return [];
  const head = await readVersion(rings, ring, 'head').catch(() => null);
  return head?.ring.devices.filter((device) => device !== null) ?? [];
}

function placesOf({ state: { devices }, staged }: BuilderFile): Place[] {
  const changed = stagedChanges(staged).flatMap((change): Place[] => {
    if (change.kind === 'add') return [change.device];
    const device = change.kind === 'set-device' ? devices[change.id] : null;
    return change.kind === 'set-device' && device ? [{ ...device, ...change.fields }] : [];
  });
  return [...devices.filter((device) => device !== null), ...changed];
}
