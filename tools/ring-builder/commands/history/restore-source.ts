// Where a ring is restored from (a file, a server over WebSocket, another folder of rings, or the
// store) and whose signatures it needs.
import { stat } from 'node:fs/promises';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { peerCallTimeoutMs, ringFileBytesMax, trustFileBytesMax } from '@ringwright/base/limits';
import { serverAddress } from '@ringwright/base/server-address';
import { exists } from '@ringwright/node/missing-file';
import {
  openTrustFile,
  type RingsTrust,
  readTrust,
} from '@ringwright/repository/folder/trust-file';
import { parseTrustFile, rootIdOf } from '@ringwright/ring/trust/trust-chain';
import type { Caller } from '@ringwright/wire/call-channel';
import { fetchRing } from '@ringwright/wire/fetch-ring';
import { trustFetch } from '@ringwright/wire/trust';
import { usage } from '../../cli/arguments.ts';
import type { Context } from '../../cli/command.ts';
import { readInput } from '../../cli/read-input.ts';
import { withHint, withServer } from '../../servers/server-connection.ts';

/** `trust`: null if neither the folder nor --trust says whom to trust. */
export type RestoreSource =
  | {
      readonly kind: 'file';
      readonly bytes: Uint8Array;
      readonly trust: RingsTrust | null;
      /** Whether it came from a server that can send a trust document for the id of a root. */
      readonly offersTrust: boolean;
    }
  | { readonly kind: 'folder'; readonly from: string; readonly trust: RingsTrust | null }
  | { readonly kind: 'store' };

/** A file of this name must be typed as ./store. */
const storeWord = 'store';

const rootId = /^[0-9a-f]{64}$/;

/**
 * `from`: a path, a server as IP:PORT or ws://IP:PORT, or the store of this folder. `pin`: a trust
 * document, or the id of a root. With an id, the server is asked for its document, which counts
 * only if its chain contains the id. Throws USAGE, TRUST_UNKNOWN, TRUST_FORK, TRUST_INVALID and
 * what withServer and fetchRing throw.
 */
export async function restoreSource(
  context: Context,
  from: string,
  { name, pin }: { readonly name: string | undefined; readonly pin: string | undefined },
): Promise<RestoreSource> {
  if (from === storeWord) return { kind: 'store' };
  const address = serverOf(from);
  const known = await knownTrust(context.rings, pin);
  if (address === null) {
    if (known === null && pin !== undefined) throw noDocument(pin, 'a file has none');
    if (await isFolder(from)) return { kind: 'folder', from, trust: known };
    await requirePath(from, name ?? 'RING');
    return {
      kind: 'file',
      bytes: await readInput(from, { bytesMax: ringFileBytesMax, name: `--from ${from}` }),
      trust: known,
      offersTrust: false,
    };
  }
  if (name === undefined) throw usage(`which ring? ring-builder restore RING --from ${from}`);
  const fetched = withServer(address, async (server): Promise<RestoreSource> => {
    const roots = known === null ? await trustOfServer(server, pin) : [];
    const trust = known === null && pin !== undefined ? trustFrom(roots, pin) : known;
    const bytes = await fetchRing(server, name);
    return { kind: 'file', bytes, trust, offersTrust: roots.length > 0 };
  });
  return fetched.catch((error: unknown) => {
    if (error instanceof CodedError && error.code === 'RING_UNKNOWN') throw elsewhere(error, from);
    throw withHint(error, 'check that a ring-server listens there; any server of the ring has it');
  });
}

/** The hint of the server, to push the ring, needs the folder that is to be restored. */
function elsewhere({ code, message, details }: CodedError, from: string): CodedError {
  return new CodedError(code, `${from}: ${message}`, {
    hint: 'name a server of the ring, which has it, or a file or another folder of rings',
    details,
  });
}

/** Throws USAGE for a missing path, such as a server typed without its port. */
async function requirePath(from: string, name: string): Promise<void> {
  if (from === '-' || (await exists(from))) return;
  throw usage(
    `--from ${from}: no such file or folder; a server needs a port`,
    `ring-builder restore ${name} --from 10.0.0.1:6200, or from a file or another folder of rings`,
  );
}

/**
 * Returns the server's address, or null for a path. http:// is accepted too, since people know
 * servers by it and the address is the same. Without a scheme, text with a port and no slash is a
 * server; ./NAME:1 is a file.
 */
export function serverOf(from: string): string | null {
  const written = /^(?:ws|http):\/\/([^/]+)\/?$/.exec(from)?.[1];
  if (written !== undefined) return serverAddress(written);
  return /:\d+$/.test(from) && !from.includes('/') ? serverAddress(from) : null;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false, // reading it reports the cause
  );
}

async function knownTrust(rings: string, pin: string | undefined): Promise<RingsTrust | null> {
  const ownTrust = await readTrust(rings);
  if (pin === undefined) return ownTrust;
  if (!rootId.test(pin)) {
    const name = `--trust ${pin}`;
    const fileBytes = await readInput(pin, { bytesMax: trustFileBytesMax, name });
    if (ownTrust === null) return openTrustFile(fileBytes, null);
    // The same file as before: after a restore of several rings, the first one copied it here.
    if (Buffer.compare(ownTrust.bytes, fileBytes) === 0) return ownTrust;
    throw usage(`${rings}/trust.json already exists and differs: --trust can only be a root id`);
  }
  return ownTrust === null ? null : openTrustFile(ownTrust.bytes, pin);
}

/** Returns trust documents; without a pin, none if the server does not send them. */
async function trustOfServer(
  server: Caller,
  pin: string | undefined,
): Promise<readonly Uint8Array[]> {
  const asked = await resultOrError(server.call(trustFetch, {}, peerCallTimeoutMs));
  if (!(asked instanceof CodedError)) return asked.roots;
  if (pin === undefined) return [];
  throw asked;
}

function trustFrom(roots: readonly Uint8Array[], pin: string): RingsTrust {
  const document = roots.find((bytes) => parseTrustFile(bytes).map(rootIdOf).includes(pin));
  if (document === undefined) throw noDocument(pin, `the server has ${roots.length} others`);
  return openTrustFile(document, pin);
}

function noDocument(pin: string, found: string): CodedError {
  const message = `there is no trust document with root ${pin.slice(0, 12)} here; ${found}`;
  return new CodedError('TRUST_UNKNOWN', message, {
    hint: 'use --trust PATH with a copy of trust.json from another operator or a server',
    details: { root: pin },
  });
}
