// ring-server inspect DIR [RING [PARTITION]]: what a data directory holds, in numbers. Changes
// nothing. If its server is running, asks that server, which alone can read its files.
import { parseArgs } from 'node:util';
import { shownToken } from '@ringwright/access/shown-token';
import { CodedError } from '@ringwright/base/coded-error';
import { accessFileBytesMax, peerCallTimeoutMs } from '@ringwright/base/limits';
import { errorFromDocument } from '@ringwright/base/remote-error';
import { messageOf } from '@ringwright/base/thrown';
import { getHttp, type HttpResponse } from '@ringwright/node/link/get-http';
import type { ServerProof } from '@ringwright/node/link/prove-server';
import { readPrivateFile, unreadable } from '@ringwright/node/read-regular-file';
import { withStoreView } from '@ringwright/partition/inspect-store';
import { keyIdOf, spkiOf } from '@ringwright/ring/trust/public-key';
import { storedIdentity } from '@ringwright/server/device/device-identity';
import { loadDeviceKey } from '@ringwright/server/device/device-key';
import { inspectSegment } from '@ringwright/server/http/http-inspect';
import { type Inspection, inspect } from '@ringwright/server/http/inspection';
import { readListening } from '@ringwright/server/listening-file';
import { requireData } from './require-data.ts';

export interface InspectedData extends Inspection {
  readonly directory: string;
  readonly ring: string | null;
  readonly partition: number | null;
  /** The device's name, or its address if it has no name. */
  readonly device: string;
  /** Address of the running server that was asked; null if none runs. */
  readonly server: string | null;
  /** Bytes of the log that the next start replays: the last writes may not be counted. */
  readonly logBytes: number;
}

interface Place {
  readonly directory: string;
  readonly ring: string | null;
  readonly partition: number | null;
}

/** The server that has the directory open. */
interface OwnServer {
  readonly address: string;
  readonly born: string;
  /** Token shown to the server; null: none. */
  readonly token: string | null;
}

const form = 'ring-server inspect DIR [RING [PARTITION]] [--token-file FILE] [--json]';

/**
 * Throws USAGE, RING_UNKNOWN, PARTITION_ABSENT, PARTITION_DAMAGED, PEER_UNREACHABLE, and
 * TOKEN_MISSING if a running server requires a token.
 */
export async function inspectData(args: readonly string[]): Promise<InspectedData> {
  const { tokenFile, ...target } = placeOf(args);
  const { directory, ring, partition } = target;
  await requireData(directory, form);
  const identity = await storedIdentity(directory);
  if (identity === null) throw usage(`${directory} is not a data directory: it has no device.json`);
  const { device, born } = identity;
  try {
    return await withStoreView(directory, (view) => {
      const { logBytes } = view;
      return { ...target, device, server: null, logBytes, ...inspect(view, ring, partition) };
    });
  } catch (error) {
    if (!(error instanceof CodedError && error.code === 'DATA_DIR_IN_USE')) throw error;
    const server = await readListening(directory);
    if (server === null) throw notListening(directory, error);
    const ownServer = {
      address: server,
      born,
      token: await shownToken(tokenFile, process.env, readToken),
    };
    return { ...target, device, server, logBytes: 0, ...(await askServer(ownServer, target)) };
  }
}

function placeOf(args: readonly string[]): Place & { readonly tokenFile: string | undefined } {
  const { positionals, values } = wordsOf(args);
  const [directory, ring = null, partition = null, ...more] = positionals;
  const isNumber = partition === null || /^\d{1,8}$/.test(partition);
  if (directory === undefined || !isNumber || more.length > 0) {
    const typed = args.join(' ') || 'none';
    throw usage(
      `inspect takes a data directory, a ring and a partition (a number), given: ${typed}`,
    );
  }
  const number = partition === null ? null : Number(partition);
  return { directory, ring, partition: number, tokenFile: values['token-file'] };
}

function wordsOf(args: readonly string[]) {
  const options = { json: { type: 'boolean' }, 'token-file': { type: 'string' } } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    throw usage(messageOf(cause));
  }
}

async function readToken(file: string): Promise<string> {
  return String(
    await readPrivateFile(file, accessFileBytesMax).catch(unreadable('the token file')),
  );
}

async function askServer(
  ownServer: OwnServer,
  { directory, ring, partition }: Place,
): Promise<Inspection> {
  const { address, born } = ownServer;
  const path = [ring, partition].filter((part) => part !== null).join('/');
  const url = `/v1/${inspectSegment}/${path}`;
  try {
    const { status, body } = await getOwn(ownServer, url, directory);
    const answer: unknown = JSON.parse(body);
    if (status !== 200) throw refusalOf(errorFromDocument(answer));
    const { born: its, device: _, ...inspection } = answer as Inspection & Record<string, unknown>;
    if (its === born) return inspection;
    throw new Error('another server listens there');
  } catch (cause) {
    if (cause instanceof CodedError) throw cause;
    const why = messageOf(cause);
    throw new CodedError('PEER_UNREACHABLE', `the server of ${directory} at ${address}: ${why}`, {
      hint: 'is it stopping? Otherwise see its log',
      details: { directory, address },
      cause,
    });
  }
}

/** Replaces the server's hint about tokens, which is meant for programs that speak HTTP. */
function refusalOf(error: CodedError): CodedError {
  if (error.code !== 'TOKEN_MISSING') return error;
  return new CodedError(error.code, error.message, {
    hint: 'pass one: --token-file FILE, RING_BUILDER_TOKEN_FILE or RING_BUILDER_TOKEN',
    details: error.details,
  });
}

/** The right server proves the key in its directory; a server of an older release has no TLS. */
async function getOwn(
  { address, token }: OwnServer,
  path: string,
  directory: string,
): Promise<HttpResponse> {
  const key = keyIdOf(spkiOf(await loadDeviceKey(directory)));
  const timeoutMs = peerCallTimeoutMs;
  const proof: ServerProof = { by: 'device', keys: new Set([key]) };
  return getHttp(address, path, { proof, timeoutMs, token }).catch((error: unknown) => {
    if (!(error instanceof CodedError) || error.code !== 'PEER_UNREACHABLE') throw error;
    // This listener has proved nothing, so it is not shown the token.
    return getHttp(address, path, { proof: null, timeoutMs });
  });
}

function notListening(directory: string, cause: CodedError): CodedError {
  const message = `a process has ${directory} open but is not listening: it starts or stops`;
  return new CodedError('DATA_DIR_IN_USE', message, { hint: 'try again in a moment', cause });
}

function usage(message: string): CodedError {
  return new CodedError('USAGE', message, { hint: form });
}
