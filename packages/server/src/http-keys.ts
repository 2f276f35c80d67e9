// The key resource: PUT, GET, HEAD and DELETE of /v1/KEYSPACE/KEY.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CodedError } from '@ringwright/base/coded-error';
import { formatStamp } from '@ringwright/base/stamp';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import { parseConsistency } from './consistency.ts';
import { type CoordinatorPorts, coordinateWrite, type KeyRequest } from './coordinate.ts';
import { answerBytes, answerError } from './http-answer.ts';
import { readBody } from './http-body.ts';
import { checkRead, etagOf, refuseConditionalWrite } from './http-conditions.ts';
import { nextSession, sessionOf } from './http-session.ts';
import { keyOfPath } from './key-path.ts';
import type { Metrics } from './metrics.ts';
import { readInSession } from './read-in-session.ts';

export const stampHeader = 'x-ringwright-stamp';

export interface KeyTarget {
  readonly keyspace: string;
  /** Percent-encoded key as it stands in the URL. */
  readonly keyPath: string;
  readonly query: string;
}

export interface KeyPorts {
  readonly coordinator: CoordinatorPorts;
  readonly metrics: Pick<Metrics, 'sessionEscalations'>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export async function answerKey(
  ports: KeyPorts,
  target: KeyTarget,
  exchange: Exchange,
): Promise<void> {
  const { request } = exchange;
  const about = {
    keyspace: checkKeyspaceName(target.keyspace),
    key: keyOfPath(target.keyPath),
    consistency: parseConsistency(new URLSearchParams(target.query).get('consistency')),
    session: sessionOf(request.headers),
  };
  switch (request.method) {
    case 'PUT':
      refuseConditionalWrite(request.headers);
      return answerWrite(ports, { ...about, value: await readBody(request) }, exchange);
    case 'DELETE':
      refuseConditionalWrite(request.headers);
      return answerWrite(ports, { ...about, value: null }, exchange);
    case 'GET':
    case 'HEAD':
      return answerGet(ports, about, exchange);
    default:
      throw new CodedError('METHOD_UNKNOWN', `${request.method} is not PUT, GET, HEAD or DELETE`, {
        hint: 'write with PUT, read with GET or HEAD, remove with DELETE',
      });
  }
}

async function answerWrite(
  { coordinator }: KeyPorts,
  about: KeyRequest & { readonly value: Uint8Array | null },
  { response }: Exchange,
): Promise<void> {
  const stamp = await coordinateWrite(coordinator, about);
  const etag = about.value === null ? {} : { etag: etagOf(stamp) };
  const session = nextSession(about.session ?? null, stamp, about.consistency);
  response.writeHead(204, { [stampHeader]: formatStamp(stamp), ...etag, ...session }).end();
}

async function answerGet(
  { coordinator, metrics }: KeyPorts,
  about: KeyRequest,
  { request, response }: Exchange,
): Promise<void> {
  const onEscalation = (): void => metrics.sessionEscalations.inc();
  const record = await readInSession({ coordinator, onEscalation }, about);
  const session = nextSession(about.session ?? null, record, about.consistency);
  for (const [name, text] of Object.entries(session)) response.setHeader(name, text);
  if (record !== null) response.setHeader(stampHeader, formatStamp(record));
  if (record === null || record.value === null) {
    checkRead(request.headers, null);
    answerError(response, new CodedError('KEY_UNKNOWN', 'no record with this key'));
    return;
  }
  const { value } = record;
  const etag = etagOf(record);
  if (checkRead(request.headers, record) === 'same') {
    response.writeHead(304, { etag }).end();
    return;
  }
  const headers = { etag, 'content-type': 'application/octet-stream' };
  if (request.method === 'HEAD') {
    response.writeHead(200, { ...headers, 'content-length': value.length }).end();
  } else answerBytes(response, value, { status: 200, headers });
}
