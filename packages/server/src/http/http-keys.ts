// The key resource: PUT, GET, HEAD and DELETE of /v1/KEYSPACE/KEY, and their conditions.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { shortened } from '@ringwright/base/shortened';
import { formatStamp, parseStamp, type Stamp } from '@ringwright/base/stamp';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import { type MayWrite, writeIf } from '../coordinate/change-key.ts';
import { coordinateWrite, type KeyRequest } from '../coordinate/coordinate.ts';
import type { NewContent } from '../coordinate/propose.ts';
import { readInSession, type SessionPorts } from '../coordinate/read-in-session.ts';
import { expiryOf, parseConsistency, ttlMsOf } from '../coordinate/request-terms.ts';
import { identityOf } from '../replica/wire-record.ts';
import { answerBytes, answerError, type Exchange, methodUnknown } from './http-answer.ts';
import { readBody } from './http-body.ts';
import { etagOf, keyOfPath, knownQuery, nextSession, sessionOf } from './key-request.ts';

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
  const keyRequest = {
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
      return answerWrite(
        ports,
        { ...keyRequest, value: await readBody(request), ...expiry },
        exchange,
      );
    }
    case 'DELETE':
      return answerWrite(ports, { ...keyRequest, value: null }, exchange);
    case 'GET':
    case 'HEAD':
      return answerGet(ports, keyRequest, exchange);
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
  const [parameter, header] = [query.get('ttl'), headers[ttlHeader]];
  if (parameter === null && header === undefined) return null;
  if (method !== 'PUT') {
    const hint = 'send a time to live with the PUT of the value';
    throw new CodedError('USAGE', `${method} does not take a time to live`, { hint });
  }
  if (parameter === null || header === undefined) return parameter ?? String(header);
  const message = `the request has both the parameter ttl and the header ${ttlHeader}`;
  throw new CodedError('USAGE', message, { hint: 'send one of them' });
}

/**
 * Throws USAGE: a client that resumes an upload sends only the rest of the value (RFC 9110, 14.5).
 */
function checkWhole({ headers }: IncomingMessage): void {
  if (headers['content-range'] === undefined) return;
  throw new CodedError('USAGE', 'a PUT of a part of a value is not supported', {
    hint: 'send the whole value',
  });
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
  if (!hasCode(error, 'PRECONDITION_FAILED')) return null;
  return parseStamp(String(error.details.stamp));
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

const WANTED_CHARACTERS = 200;

/**
 * Decides how a GET with these headers is answered: with the whole record, or 304 (`same`). `stamp`
 * is null when there is no value.
 */
export function checkRead(headers: IncomingHttpHeaders, stamp: Stamp | null): 'whole' | 'same' {
  const { ifMatch, ifNoneMatch } = conditionsOf(headers);
  if (ifMatch !== undefined && !names(ifMatch, stamp)) {
    const recordText = stamp === null ? 'there is no record' : `the record is ${etagOf(stamp)}`;
    const requiredTags = shortened(ifMatch.join(', '), WANTED_CHARACTERS);
    const message = `${recordText}, the request requires ${requiredTags}`;
    const hint = 'read the key again without If-Match';
    throw new CodedError('PRECONDITION_FAILED', message, { hint });
  }
  return ifNoneMatch !== undefined && names(ifNoneMatch, stamp) ? 'same' : 'whole';
}

/**
 * Returns the condition of a write, or null. `If-None-Match: *` requires that there is no record,
 * `If-Match: *` that there is one, tags require those records. Throws CONDITION_UNSUPPORTED for a
 * condition on a time, since many records may be written within one second. This and checkRead
 * throw USAGE for a malformed tag: it would match nothing, and a write would lose its guard.
 */
export function writeCondition(headers: IncomingHttpHeaders): MayWrite | null {
  const { ifMatch, ifNoneMatch } = conditionsOf(headers);
  if (headers['if-unmodified-since'] !== undefined) {
    const message = 'if-unmodified-since on a write is not supported: its seconds are too coarse';
    const hint = 'use If-Match with the ETag of the record';
    throw new CodedError('CONDITION_UNSUPPORTED', message, { hint });
  }
  if (ifMatch === undefined && ifNoneMatch === undefined) return null;
  return (present) => {
    const stamp = present === null ? null : identityOf(present);
    const isMatch = ifMatch === undefined || names(ifMatch, stamp);
    return isMatch && !(ifNoneMatch !== undefined && names(ifNoneMatch, stamp));
  };
}

interface Conditions {
  readonly ifMatch: readonly string[] | undefined;
  readonly ifNoneMatch: readonly string[] | undefined;
}

function conditionsOf(headers: IncomingHttpHeaders): Conditions {
  return { ifMatch: tagsOf(headers, 'if-match'), ifNoneMatch: tagsOf(headers, 'if-none-match') };
}

/** Returns the tags: quoted, or `*` alone. A weak tag names the same stamp as the strong one. */
function tagsOf(
  headers: IncomingHttpHeaders,
  name: 'if-match' | 'if-none-match',
): string[] | undefined {
  const tags = headers[name]?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  const malformed = tags?.find((tag) => !/^("[^"]*"|\*)$/.test(tag));
  if (malformed === undefined) return tags;
  const message = `${name}: ${shortened(malformed, WANTED_CHARACTERS)} is not an ETag`;
  throw new CodedError('USAGE', message, {
    hint: 'send the ETag of an answer unchanged, with its quotes; or * for any record',
  });
}

function names(tags: readonly string[], stamp: Stamp | null): boolean {
  return stamp !== null && (tags.includes('*') || tags.includes(etagOf(stamp)));
}
