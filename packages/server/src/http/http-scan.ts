// Keys and records in order, page by page: GET /v1/_scan/KEYSPACE and GET /v1/_keys/KEYSPACE.
import { asBuffer } from '@ringwright/base/as-buffer';
import { CodedError } from '@ringwright/base/coded-error';
import { keyBytesMax, listKeysMax } from '@ringwright/base/limits';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import { keyOfText } from '@ringwright/ring/partitioner/key-text';
import { isLive } from '@ringwright/ring/partitioner/live-ids';
import {
  isOrdered,
  isPositionIn,
  type ScanPosition,
} from '@ringwright/ring/partitioner/scan-order';
import type { Ring } from '@ringwright/ring/ring';
import type { PageRow } from '@ringwright/wire/listing';
import { readCursor, writeCursor } from '@ringwright/wire/scan-cursor';
import { parseConsistency } from '../coordinate/request-terms.ts';
import { type KeyspaceScan, scanKeyspace } from '../coordinate/scan-keyspace.ts';
import type { CoordinatorPorts } from '../coordinate/with-newest-ring.ts';
import { identityOf } from '../replica/wire-record.ts';
import { answerBytes, answerJson, type Exchange, keyForm, methodUnknown } from './http-answer.ts';
import { etagOf, knownQuery } from './key-request.ts';

/** Path segments: one lists keys alone, the other scans records. */
export const listSegment = '_keys';
export const scanSegment = '_scan';

const EXAMPLE = `GET /v1/${scanSegment}/KEYSPACE?prefix=a&start=ab&end=ad&limit=100&cursor=CURSOR`;
const PARAMETERS = [
  ...['prefix', 'start', 'end', 'reverse', 'values', 'limit', 'cursor', 'partition'],
  'consistency',
];
const linesType = 'application/x-ndjson';

/**
 * Answers `{items, order, cursor}` to `_scan`, `{keys, cursor}` to `_keys`. Bytes that are not
 * text, and values with control characters other than tabs and line ends, come in base64. `cursor`
 * is null at the end. It encodes the position itself, so it is valid on every server, after any
 * restart and under every ring of the keyspace. On request the answer has lines: one per item, then
 * one with the rest. Throws USAGE, CURSOR_INVALID, KEY_INVALID, CONSISTENCY_INVALID.
 */
export async function answerScan(
  coordinator: CoordinatorPorts,
  { keyspace, segment, query }: { keyspace: string; segment: string; query: string },
  { request, response }: Exchange,
): Promise<void> {
  if (request.method !== 'GET') {
    throw methodUnknown(request, { allow: ['GET'], hint: EXAMPLE });
  }
  const { ring } = coordinator.rings.get(checkKeyspaceName(keyspace));
  const parameters = knownQuery(query, PARAMETERS);
  const isList = segment === listSegment;
  const { reverse, ...scan } = {
    ...boundsOf(query),
    reverse: yesOrNo('reverse', parameters.get('reverse') ?? 'false'),
    values: !isList && yesOrNo('values', parameters.get('values') ?? 'true'),
    limit: wholeNumber('limit', parameters.get('limit') ?? String(listKeysMax), listKeysMax),
    consistency: scanLevel(parameters.get('consistency')),
    only: onlyPartition(parameters, ring),
  };
  const ordered = isOrdered(ring.partitioner);
  const cursorUse = { keyspace, reverse, ordered };
  const cursor = parameters.get('cursor');
  const position = cursor === null ? null : readCursor(cursor, cursorUse);
  if (position !== null && !isOf(ring, scan.only, position)) throw badCursor(cursor);
  const part = await scanKeyspace(coordinator, { ...scan, keyspace, reverse, position });
  const next = part.position === null ? null : writeCursor(part.position, cursorUse);
  const items = part.rows.map((row) => (isList ? keyForm(row.key) : itemOf(row, scan)));
  const rest = isList
    ? { cursor: next }
    : { order: ordered ? 'keyspace' : 'partition', cursor: next };
  if (request.headers.accept !== linesType) {
    answerJson(response, 200, { [isList ? 'keys' : 'items']: items, ...rest });
    return;
  }
  const lines = [...items, rest].map((line) => `${JSON.stringify(line)}\n`).join('');
  answerBytes(response, Buffer.from(lines), {
    status: 200,
    headers: { 'content-type': linesType },
  });
}

/** Throws CONSISTENCY_INVALID. */
function scanLevel(word: string | null): KeyspaceScan['consistency'] {
  const level = parseConsistency(word);
  if (level !== 'linearizable') return level;
  const message = 'a scan cannot be linearizable: its pages are read at different times';
  throw new CodedError('CONSISTENCY_INVALID', message, {
    hint: 'use ?consistency=one, quorum or all; read single keys with linearizable',
  });
}

/** Whether the cursor is valid for this ring, and for the partition if the scan reads only one. */
function isOf(ring: Ring, only: number | null, position: ScanPosition): boolean {
  if (position.partition >= ring.partitions) return false;
  return only === null || isPositionIn(ring.partitioner, only, position);
}

function itemOf(row: PageRow, { values }: Pick<KeyspaceScan, 'values'>): object {
  const etag = etagOf(identityOf(row));
  if (!values || row.value === null) return { ...keyForm(row.key), etag };
  return { ...keyForm(row.key), ...valueForm(row.value), etag };
}

/** JSON needs six bytes for a control character, and six times as long to write it. */
const CONTROL = /[^\P{Cc}\t\n\r]/u;

function valueForm(value: Uint8Array): { value: string } | { value64: string } {
  const form = keyForm(value);
  if ('key64' in form) return { value64: form.key64 };
  if (CONTROL.test(form.key)) return { value64: asBuffer(value).toString('base64') };
  return { value: form.key };
}
/** Returns the prefix that a query names; empty if none. Throws KEY_INVALID. */
export function prefixOf(query: string): Uint8Array {
  return keyParameter(query, 'prefix') ?? new Uint8Array();
}

function boundsOf(query: string): Pick<KeyspaceScan, 'prefix' | 'from' | 'to'> {
  const from = keyParameter(query, 'start') ?? new Uint8Array();
  return { prefix: prefixOf(query), from, to: keyParameter(query, 'end') };
}

/**
 * Returns the bytes of a key parameter. URLSearchParams would decode them as text. A space arrives
 * as `+`, as in every query.
 */
function keyParameter(query: string, name: string): Uint8Array | null {
  const found = query.split('&').find((part) => part.startsWith(`${name}=`));
  if (found === undefined) return null;
  const key = keyOfText(found.slice(name.length + 1).replaceAll('+', ' '));
  if (key.length <= keyBytesMax) return key;
  const message = `${name} has ${key.length} bytes; the maximum of a key is ${keyBytesMax}`;
  throw new CodedError('KEY_INVALID', message, { hint: EXAMPLE });
}

/** A former partition has no end of its own any more: its scan would return keys of others. */
function onlyPartition(query: URLSearchParams, { partitions, partitioner }: Ring): number | null {
  const only = query.get('partition');
  if (only === null) return null;
  const partition = wholeNumber('partition', only, partitions - 1);
  if (isLive(partitioner, partition)) return partition;
  const message = `there is no partition ${partition} at present: partitions were split or merged`;
  throw new CodedError('USAGE', message, {
    hint: 'ring-builder table RING lists the partitions with their intervals',
    details: { partition },
  });
}

function badCursor(cursor: string | null): CodedError {
  const message = `cursor '${cursor}' is not from a scan of these partitions`;
  return new CodedError('CURSOR_INVALID', message, {
    hint: 'send the cursor of the last answer, with the same parameters',
    details: { cursor },
  });
}

function yesOrNo(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new CodedError('USAGE', `${name} '${text}' is not true or false`, { hint: EXAMPLE });
}

function wholeNumber(name: string, text: string, max: number): number {
  const least = name === 'limit' ? 1 : 0;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (number >= least && number <= max) return number;
  throw new CodedError('USAGE', `${name} '${text}' is not a number from ${least} to ${max}`, {
    hint: EXAMPLE,
  });
}
