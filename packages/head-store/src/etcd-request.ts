// One POST to one member of etcd's JSON gateway, over TLS if the store's URL says etcds.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { CodedError } from '@ringwright/base/coded-error';
import { accessFileBytesMax } from '@ringwright/base/limits';
import { messageOf } from '@ringwright/base/thrown';
import { readPrivateFile, readRegularFile } from '@ringwright/node/read-regular-file';
import type { StoreAccess } from './store-access.ts';

// An import would evaluate all their exports, and load what Node needs for fetch: 14 MB.
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

export interface EtcdPlace {
  readonly tls: boolean;
  readonly access: StoreAccess;
}

export interface EtcdPost {
  readonly member: string;
  readonly path: string;
  readonly body: unknown;
  readonly token: string | null;
}

/** A member that answers with one of these has done nothing: it rejects request or sender. */
const refusalStatuses = new Set([400, 401, 403, 404, 412]);

/**
 * Resolves to the response once its status is 200; its body follows. Certificates are read for each
 * request, so that renewed ones count. Throws HEAD_STORE_REFUSED, and errors of the connection.
 */
export async function postEtcd(
  { tls, access }: EtcdPlace,
  { member, path, body, token }: EtcdPost,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(`${tls ? 'https' : 'http'}://${member}${path}`);
  const headers = token === null ? {} : { authorization: token };
  // A connection of its own: a kept one may be closed at this moment, and leave a swap in doubt.
  const options = { method: 'POST', headers, signal, agent: false } as const;
  const certificates = tls ? await certificatesOf(access) : {};
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = tls
      ? https.request(url, { ...options, ...certificates }, resolve)
      : http.request(url, options, resolve);
    request.once('error', reject);
    request.end(JSON.stringify(body));
  });
  const status = response.statusCode ?? 0;
  if (status === 200) return response;
  const answerText = (await text(response)).slice(0, 300);
  if (refusalStatuses.has(status)) throw refused(member, status, answerText);
  throw new Error(`${member} answered ${status}: ${answerText}`);
}

async function certificatesOf({ ca, cert, key }: StoreAccess) {
  const read = (path: string | undefined) => (path === undefined ? undefined : readAccess(path));
  return {
    ca: await read(ca),
    cert: await read(cert),
    key: key === undefined ? undefined : await readSecret(key),
  };
}

/** Checks that all files can be read before they are needed. Throws USAGE, FILE_UNFIT. */
export async function checkAccess(access: StoreAccess): Promise<void> {
  await certificatesOf(access);
  if (access.passwordFile !== undefined) await readSecret(access.passwordFile);
}

/** Reads a file that only its owner may read. Throws USAGE, FILE_UNFIT. */
export function readSecret(path: string): Promise<Buffer> {
  return readAccess(path, readPrivateFile);
}

async function readAccess(path: string, read = readRegularFile): Promise<Buffer> {
  return read(path, accessFileBytesMax).catch((cause: unknown) => {
    if (cause instanceof CodedError) throw cause;
    const why = messageOf(cause);
    throw new CodedError('USAGE', `a credential file of the head store cannot be read: ${why}`, {
      hint: 'check the files of --store-ca, --store-cert, --store-key and --store-password-file',
      details: { path },
    });
  });
}

function refused(member: string, status: number, answerText: string): CodedError {
  return new CodedError('HEAD_STORE_REFUSED', `${member} answered ${status}: ${answerText}`, {
    hint: 'log in: --store etcds://USER@HOST:PORT,… --store-password-file FILE',
    details: { member, status, said: answerText },
  });
}
