// The keys of a keyspace, page by page: GET /v1/_keys/KEYSPACE.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CodedError } from '@ringwright/base/coded-error';
import { listKeysMax } from '@ringwright/base/limits';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import { parseConsistency } from '../coordinate/consistency.ts';
import { type KeyPlace, listKeyspace } from '../coordinate/list-keyspace.ts';
import type { CoordinatorPorts } from '../coordinate/with-newest-ring.ts';
import { byteText } from '../replica/byte-text.ts';
import { answerJson } from './http-answer.ts';
import { keyForm } from './key-form.ts';

export const listSegment = '_keys';

const EXAMPLE = `GET /v1/${listSegment}/KEYSPACE?limit=100&cursor=CURSOR&partition=7`;

/**
 * Answers `{keys: [{key} or {key64}], cursor}`; a key that is no text comes in base64, and `cursor`
 * is null at the end. The cursor is the place itself, so it is good on every server, after any
 * restart and under every ring of the keyspace. Throws USAGE.
 */
export async function answerList(
  coordinator: CoordinatorPorts,
  { keyspace, query }: { readonly keyspace: string; readonly query: string },
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  if (request.method !== 'GET') {
    throw new CodedError('METHOD_UNKNOWN', `${request.method} is not GET`, { hint: EXAMPLE });
  }
  const asked = new URLSearchParams(query);
  const { partitions } = coordinator.rings.get(checkKeyspaceName(keyspace)).ring;
  const only = asked.get('partition');
  const partition = only === null ? 0 : wholeNumber('partition', only, partitions - 1);
  const end = only === null ? partitions : partition + 1;
  const cursor = asked.get('cursor');
  const from = cursor === null ? { partition, after: new Uint8Array() } : placeOf(cursor);
  if (from.partition < partition || from.partition >= end) throw badCursor(cursor);
  const { keys, place } = await listKeyspace(coordinator, {
    keyspace,
    place: from,
    end,
    limit: wholeNumber('limit', asked.get('limit') ?? String(listKeysMax), listKeysMax),
    consistency: parseConsistency(asked.get('consistency')),
  });
  const next = place.partition >= end ? null : cursorOf(place);
  answerJson(response, 200, { keys: keys.map(keyForm), cursor: next });
}

function cursorOf({ partition, after }: KeyPlace): string {
  return `${partition}.${Buffer.from(byteText(after), 'latin1').toString('base64url')}`;
}

function placeOf(cursor: string): KeyPlace {
  const [, partition, after] = /^(\d{1,8})\.([\w-]{0,1400})$/.exec(cursor) ?? [];
  if (partition === undefined || after === undefined) throw badCursor(cursor);
  return { partition: Number(partition), after: Buffer.from(after, 'base64url') };
}

function badCursor(cursor: string | null): CodedError {
  const message = `cursor '${cursor}' is none of this keyspace`;
  return new CodedError('USAGE', message, { hint: 'send the cursor of the last answer as it was' });
}

function wholeNumber(name: string, text: string, max: number): number {
  const least = name === 'limit' ? 1 : 0;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (number >= least && number <= max) return number;
  throw new CodedError('USAGE', `${name} '${text}' is not a number from ${least} to ${max}`, {
    hint: EXAMPLE,
  });
}
