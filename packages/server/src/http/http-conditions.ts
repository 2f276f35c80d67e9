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

/** What a GET with these headers is answered with. `stamp` is null when there is no value. */
export function checkRead(headers: IncomingHttpHeaders, stamp: Stamp | null): 'whole' | 'same' {
  const { 'if-match': wanted, 'if-none-match': known } = headers;
  if (wanted !== undefined && !names(wanted, stamp)) {
    const there = stamp === null ? 'there is no record' : `the record is ${etagOf(stamp)}`;
    const message = `${there}, the request wants ${shortened(wanted, WANTED_CHARACTERS)}`;
    const hint = 'read the key again without If-Match';
    throw new CodedError('PRECONDITION_FAILED', message, { hint });
  }
  return known !== undefined && names(known, stamp) ? 'same' : 'whole';
}

/**
 * The condition of a write, or null. `If-None-Match: *` wants no record, `If-Match: *` any record,
 * tags those records. Throws CONDITION_UNSUPPORTED for a condition on a time: a second holds many
 * records.
 */
export function writeCondition(headers: IncomingHttpHeaders): MayWrite | null {
  const { 'if-match': wanted, 'if-none-match': unwanted } = headers;
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

/** A list of tags, or `*` for any record. A weak tag names the same stamp as the strong one. */
function names(list: string, stamp: Stamp | null): boolean {
  if (stamp === null) return false;
  const tags = list.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etagOf(stamp));
}
