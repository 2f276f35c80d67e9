// The key resource: PUT, GET, HEAD and DELETE of /v1/KEYSPACE/KEY.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CodedError } from '@ringwright/base/coded-error';
import { formatStamp, parseStamp, type Stamp } from '@ringwright/base/stamp';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import { parseConsistency } from '../coordinate/consistency.ts';
import { coordinateWrite, type KeyRequest } from '../coordinate/coordinate.ts';
import { expiryOf, ttlMsOf } from '../coordinate/expiry.ts';
import type { NewContent } from '../coordinate/propose.ts';
import { readInSession, type SessionPorts } from '../coordinate/read-in-session.ts';
import { writeIf } from '../coordinate/write-if.ts';
import { identityOf } from '../replica/wire-record.ts';
import { answerBytes, answerError, type Exchange, methodUnknown } from './http-answer.ts';
import { readBody } from './http-body.ts';
import { checkRead, etagOf, writeCondition } from './http-conditions.ts';
import { keyOfPath, knownQuery, nextSession, sessionOf } from './key-request.ts';

const stampHeader = 'x-ringwright-stamp';
/** Unix ms at which the record expires; set only for records that expire. */
const expiresHeader = 'x-ringwright-expires';
const ttlHeader = 'x-ringwright-ttl';

interface KeyTarget {
  readonly keyspace: string;
  /** The key, percent-encoded as in the URL. */
  readonly keyPath: string;
  readonly query: string;
}

export async function answerKey(
  ports: SessionPorts,
  target: KeyTarget,
  exchange: Exchange,
): Promise<void> {
  const { request } = exchange;
  const query = knownQuery(target.query, ['consistency', 'ttl']);
  const about = {
    keyspace: checkKeyspaceName(target.keyspace),
    key: keyOfPath(target.keyPath),
    consistency: parseConsistency(query.get('consistency')),
    session: sessionOf(request.headers),
  };
  const ttl = ttlOf(query, request);
  switch (request.method) {
    case 'PUT': {
      checkWhole(request);
      const ttlMs = ttl === null ? null : ttlMsOf(ttl);
      const expiry =
        ttlMs === null ? {} : { expiresMs: expiryOf(ttlMs, ports.coordinator.clock.nowMs()) };
      return answerWrite(ports, { ...about, value: await readBody(request), ...expiry }, exchange);
    }
    case 'DELETE':
      return answerWrite(ports, { ...about, value: null }, exchange);
    case 'GET':
    case 'HEAD':
      return answerGet(ports, about, exchange);
    default:
      throw methodUnknown(request, {
        allow: ['PUT', 'GET', 'HEAD', 'DELETE'],
        hint: 'write with PUT, read with GET or HEAD, remove with DELETE',
      });
  }
}

/**
 * Returns the time to live of the request, or null. Throws USAGE for any method but PUT, and if it
 * is given twice.
 */
function ttlOf(query: URLSearchParams, { headers, method }: IncomingMessage): string | null {
  const [given, shown] = [query.get('ttl'), headers[ttlHeader]];
  if (given === null && shown === undefined) return null;
  if (method !== 'PUT') {
    const hint = 'give a time to live with the PUT of the value';
    throw new CodedError('USAGE', `a time to live with ${method}`, { hint });
  }
  if (given === null || shown === undefined) return given ?? String(shown);
  const message = `a time to live as the parameter ttl, and one as the header ${ttlHeader}`;
  throw new CodedError('USAGE', message, { hint: 'give one of them' });
}

/**
 * Throws USAGE: a client that resumes an upload sends only the rest of the value (RFC 9110, 14.5).
 */
function checkWhole({ headers }: IncomingMessage): void {
  if (headers['content-range'] === undefined) return;
  throw new CodedError('USAGE', 'a PUT of a part of a value', { hint: 'send the value whole' });
}

async function answerWrite(
  { coordinator }: SessionPorts,
  write: KeyRequest & NewContent,
  { request, response }: Exchange,
): Promise<void> {
  const condition = writeCondition(request.headers);
  const written =
    condition === null
      ? await coordinateWrite(coordinator, write)
      : await writeIf(coordinator, write, condition).catch((error: unknown) => {
          nameRecord(response, presentOf(error));
          throw error;
        });
  const stamp = identityOf(written);
  const etag = write.value === null ? {} : { etag: etagOf(stamp) };
  const expires = write.expiresMs ? { [expiresHeader]: write.expiresMs } : {};
  const session = nextSession(write.session ?? null, written, write.consistency);
  const headers = { [stampHeader]: formatStamp(stamp), ...expires, ...etag, ...session };
  response.writeHead(204, headers).end();
}

/** Returns the stamp of the record that a failed condition found. */
function presentOf(error: unknown): Stamp | null {
  const isFailed = error instanceof CodedError && error.code === 'PRECONDITION_FAILED';
  return isFailed ? parseStamp(String(error.details.stamp)) : null;
}

function nameRecord(response: ServerResponse, stamp: Stamp | null): void {
  if (stamp === null) return;
  response.setHeader(stampHeader, formatStamp(stamp));
  response.setHeader('etag', etagOf(stamp));
}

async function answerGet(
  ports: SessionPorts,
  read: KeyRequest,
  { request, response }: Exchange,
): Promise<void> {
  const record = await readInSession(ports, read);
  const session = nextSession(read.session ?? null, record, read.consistency);
  for (const [name, text] of Object.entries(session)) response.setHeader(name, text);
  if (record !== null) response.setHeader(stampHeader, formatStamp(identityOf(record)));
  if (record === null || record.value === null) {
    checkRead(request.headers, null);
    answerError(response, new CodedError('KEY_UNKNOWN', 'no record with this key'));
    return;
  }
  const { value, expiresMs } = record;
  if (expiresMs) response.setHeader(expiresHeader, expiresMs);
  const etag = etagOf(identityOf(record));
  if (checkRead(request.headers, identityOf(record)) === 'same') {
    response.writeHead(304, { etag }).end();
    return;
  }
  // A web page may load a value as a script. Without nosniff a browser would ignore the type and
  // run it.
  const headers = {
    etag,
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
  };
  if (request.method === 'HEAD') {
    response.writeHead(200, { ...headers, 'content-length': value.length }).end();
  } else answerBytes(response, value, { status: 200, headers });
}
