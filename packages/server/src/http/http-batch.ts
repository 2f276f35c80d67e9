// Many gets, puts and deletes in one request: POST /v1/_batch/KEYSPACE, with an answer per item. No
// keyspace name begins with `_`, so the path can never be that of a key.
import type { Need } from '@ringwright/access/need';
import { CodedError } from '@ringwright/base/coded-error';
import {
  httpBatchAnswerBytesMax,
  httpBatchBytesMax,
  httpBatchItemsAtOnce,
} from '@ringwright/base/limits';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import {
  advanceSession,
  formatSessionToken,
  type SessionToken,
  sessionHeader,
} from '@ringwright/base/session-token';
import { formatStamp, type Stamp } from '@ringwright/base/stamp';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import { mayWriteIf, writeIf } from '../coordinate/change-key.ts';
import { coordinateWrite } from '../coordinate/coordinate.ts';
import { readInSession, type SessionPorts } from '../coordinate/read-in-session.ts';
import { expiryOf, parseConsistency } from '../coordinate/request-terms.ts';
import { identityOf } from '../replica/wire-record.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { checkJson } from './check-request.ts';
import { answerJson, type Exchange, failureOf, methodUnknown } from './http-answer.ts';
import { type BatchItem, parseBatch } from './http-batch-schema.ts';
import { readBody } from './http-body.ts';
import { knownQuery, sessionOf } from './key-request.ts';

export const batchSegment = '_batch';

interface BatchPorts extends SessionPorts {
  /** Throws what the guard throws for the sender of the batch. */
  readonly requireItem: (needs: readonly Need[]) => void;
  readonly metrics: Pick<Metrics, 'batchItems' | 'sessionEscalations'>;
  readonly onBug: (error: unknown) => void;
}

interface BatchTarget {
  readonly keyspace: string;
  readonly query: string;
}

/** The outcome of one item, with the status that a single request would have had. */
interface ItemAnswer {
  readonly status: number;
  readonly stamp?: string;
  /** Expiry time in Unix ms. */
  readonly expires?: number;
  readonly value64?: string;
  readonly error?: unknown;
}

interface Batch {
  readonly ports: BatchPorts;
  readonly keyspace: string;
  readonly consistency: ConsistencyLevel;
  readonly session: SessionToken | null;
  /** `bytes`: bytes of values answered so far; `next`: what the session has seen. */
  bytes: number;
  next: SessionToken | null;
}

/**
 * Answers 200 with `{items: [...]}` in the order of the request, whatever the outcome of each item.
 * If a part of the batch cannot be read, the whole batch is refused, and nothing is written.
 */
export async function answerBatch(
  ports: BatchPorts,
  { keyspace, query }: BatchTarget,
  { request, response }: Exchange,
): Promise<void> {
  if (request.method !== 'POST') {
    const hint = `POST /v1/${batchSegment}/KEYSPACE`;
    throw methodUnknown(request, { allow: ['POST'], hint });
  }
  checkJson(request);
  const session = sessionOf(request.headers);
  const batch: Batch = {
    ports,
    keyspace: checkKeyspaceName(keyspace),
    consistency: parseConsistency(knownQuery(query, ['consistency']).get('consistency')),
    session,
    bytes: 0,
    next: session,
  };
  ports.coordinator.rings.get(batch.keyspace);
  const items = parseBatch(
    await readBody(request, { bytesMax: httpBatchBytesMax, refuse: tooLarge }),
  );
  const answers = await mapConcurrent(items, httpBatchItemsAtOnce, (item) =>
    answerItem(batch, item),
  );
  if (batch.next !== null) response.setHeader(sessionHeader, formatSessionToken(batch.next));
  answerJson(response, 200, { items: answers });
}

async function answerItem(batch: Batch, item: BatchItem): Promise<ItemAnswer> {
  const answer = await permittedItem(batch, item).catch((error: unknown): ItemAnswer => {
    if (!(error instanceof CodedError)) batch.ports.onBug(error);
    return failureOf(error);
  });
  batch.ports.metrics.batchItems.inc({ op: item.op, status: answer.status });
  return answer;
}

async function permittedItem(batch: Batch, item: BatchItem): Promise<ItemAnswer> {
  batch.ports.requireItem(itemNeeds(batch.keyspace, item));
  return item.op === 'get' ? readItem(batch, item) : writeItem(batch, item);
}

function itemNeeds(keyspace: string, { op, key, condition }: BatchItem): readonly Need[] {
  const read: Need = { kind: 'data', role: 'read', keyspace, key };
  if (op === 'get') return [read];
  const write: Need = { ...read, role: 'write' };
  return condition === undefined ? [write] : [write, read];
}

async function writeItem(
  batch: Batch,
  { key, value, ttlMs, condition }: BatchItem,
): Promise<ItemAnswer> {
  const { ports, keyspace, consistency, session } = batch;
  const { coordinator } = ports;
  const expires =
    ttlMs === undefined ? {} : { expires: expiryOf(ttlMs, coordinator.clock.nowMs()) };
  const keyRequest = { keyspace, key, consistency, session };
  const request = { ...keyRequest, value, expiresMs: expires.expires };
  const written =
    condition === undefined
      ? await coordinateWrite(coordinator, request)
      : await writeIf(coordinator, request, mayWriteIf(condition));
  see(batch, written);
  return { status: 204, stamp: formatStamp(identityOf(written)), ...expires };
}

async function readItem(batch: Batch, { key }: BatchItem): Promise<ItemAnswer> {
  const { ports, keyspace, consistency, session } = batch;
  // One value beyond the limit is in memory only until its length is known.
  if (batch.bytes > httpBatchAnswerBytesMax) throw tooManyBytes();
  const record = await readInSession(ports, { keyspace, key, consistency, session });
  see(batch, record);
  const stamp = record === null ? {} : { stamp: formatStamp(identityOf(record)) };
  if (record === null || record.value === null) {
    return { ...failureOf(new CodedError('KEY_UNKNOWN', 'no record with this key')), ...stamp };
  }
  batch.bytes += record.value.length;
  if (batch.bytes > httpBatchAnswerBytesMax) throw tooManyBytes();
  const { buffer, byteOffset, length } = record.value;
  const value64 = Buffer.from(buffer, byteOffset, length).toString('base64');
  const expires = record.expiresMs ? { expires: record.expiresMs } : {};
  return { status: 200, ...stamp, ...expires, value64 };
}

function see(batch: Batch, stamp: Stamp | null): void {
  batch.next = advanceSession(batch.next, stamp, batch.consistency);
}

function tooManyBytes(): CodedError {
  const message = `the values of the batch have more than ${httpBatchAnswerBytesMax} bytes`;
  return new CodedError('BATCH_TOO_LARGE', message, { hint: 'get these keys in another batch' });
}

function tooLarge(bytes: number): CodedError {
  const message = `a batch of at least ${bytes} bytes; the maximum is ${httpBatchBytesMax}`;
  return new CodedError('BATCH_TOO_LARGE', message, { hint: 'split it' });
}
