// Conditional requests: a record's ETag is its stamp, so equal tags mean equal bytes. Pure.
import type { IncomingHttpHeaders } from 'node:http';
import { CodedError } from '@ringwright/base/coded-error';
import { shortened } from '@ringwright/base/shortened';
import { formatStamp, type Stamp } from '@ringwright/base/stamp';
import type { MayWrite } from '../coordinate/write-if.ts';
import { identityOf } from '../replica/wire-record.ts';

const WANTED_CHARACTERS = 200;

export function etagOf(stamp: Stamp): string {
  return `"${formatStamp(stamp)}"`;
}

/**
 * Decides how a GET with these headers is answered: with the whole record, or 304 (`same`). `stamp`
 * is null when there is no value.
 */
export function checkRead(headers: IncomingHttpHeaders, stamp: Stamp | null): 'whole' | 'same' {
  const { wanted, unwanted } = conditionsOf(headers);
  if (wanted !== undefined && !names(wanted, stamp)) {
    const there = stamp === null ? 'there is no record' : `the record is ${etagOf(stamp)}`;
    const asked = shortened(wanted.join(', '), WANTED_CHARACTERS);
    const message = `${there}, the request wants ${asked}`;
    const hint = 'read the key again without If-Match';
    throw new CodedError('PRECONDITION_FAILED', message, { hint });
  }
  return unwanted !== undefined && names(unwanted, stamp) ? 'same' : 'whole';
}

/**
 * Returns the condition of a write, or null. `If-None-Match: *` requires that there is no record,
 * `If-Match: *` that there is one, tags require those records. Throws CONDITION_UNSUPPORTED for a
 * condition on a time, since many records may be written within one second. This and checkRead
 * throw USAGE for a malformed tag: it would match nothing, and a write would lose its guard.
 */
export function writeCondition(headers: IncomingHttpHeaders): MayWrite | null {
  const { wanted, unwanted } = conditionsOf(headers);
  if (headers['if-unmodified-since'] !== undefined) {
    const message = 'if-unmodified-since on a write is not supported: its seconds are too coarse';
    const hint = 'use If-Match with the ETag of the record';
    throw new CodedError('CONDITION_UNSUPPORTED', message, { hint });
  }
  if (wanted === undefined && unwanted === undefined) return null;
  return (present) => {
    const stamp = present === null ? null : identityOf(present);
    const isWanted = wanted === undefined || names(wanted, stamp);
    return isWanted && !(unwanted !== undefined && names(unwanted, stamp));
  };
}

interface Conditions {
  readonly wanted: readonly string[] | undefined;
  readonly unwanted: readonly string[] | undefined;
}

function conditionsOf(headers: IncomingHttpHeaders): Conditions {
  return { wanted: tagsOf(headers, 'if-match'), unwanted: tagsOf(headers, 'if-none-match') };
}

/** Returns the tags: quoted, or `*` alone. A weak tag names the same stamp as the strong one. */
function tagsOf(
  headers: IncomingHttpHeaders,
  name: 'if-match' | 'if-none-match',
): string[] | undefined {
  const tags = headers[name]?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  const wrong = tags?.find((tag) => !/^("[^"]*"|\*)$/.test(tag));
  if (wrong === undefined) return tags;
  const message = `${name}: ${shortened(wrong, WANTED_CHARACTERS)} is no tag`;
  throw new CodedError('USAGE', message, {
    hint: 'send the ETag of an answer as it came, quotes included; or * for any record',
  });
}

function names(tags: readonly string[], stamp: Stamp | null): boolean {
  return stamp !== null && (tags.includes('*') || tags.includes(etagOf(stamp)));
}
