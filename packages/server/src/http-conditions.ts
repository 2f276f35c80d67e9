// Conditional requests: a record's ETag is its stamp, so equal tags mean equal bytes. Pure.
import type { IncomingHttpHeaders } from 'node:http';
import { CodedError } from '@ringwright/base/coded-error';
import { formatStamp, type Stamp } from '@ringwright/base/stamp';

export function etagOf(stamp: Stamp): string {
  return `"${formatStamp(stamp)}"`;
}

/** What a GET with these headers is answered with. `stamp` is null when there is no value. */
export function checkRead(headers: IncomingHttpHeaders, stamp: Stamp | null): 'whole' | 'same' {
  const { 'if-match': wanted, 'if-none-match': known } = headers;
  if (wanted !== undefined && !names(wanted, stamp)) {
    const there = stamp === null ? 'there is no record' : `the record is ${etagOf(stamp)}`;
    const message = `${there}, the request wants ${wanted.slice(0, 200)}`;
    const hint = 'read the key again without If-Match';
    throw new CodedError('PRECONDITION_FAILED', message, { hint });
  }
  return known !== undefined && names(known, stamp) ? 'same' : 'whole';
}

/**
 * Refuses conditions on writes. A coordinator could compare before it writes, but another one may
 * write between: only the replicas could decide it, and they cannot yet. Better no answer than one
 * that is right most of the time.
 */
export function refuseConditionalWrite(headers: IncomingHttpHeaders): void {
  const given = ['if-match', 'if-none-match', 'if-unmodified-since'].find(
    (name) => headers[name] !== undefined,
  );
  if (given === undefined) return;
  const message = `${given} on a write is not supported: writes cannot be made conditional yet`;
  const hint = 'write without it; a write that lost to a newer one is answered with SUPERSEDED';
  throw new CodedError('CONDITION_UNSUPPORTED', message, { hint, details: { header: given } });
}

/** A list of tags, or `*` for any record. A weak tag names the same stamp as the strong one. */
function names(list: string, stamp: Stamp | null): boolean {
  if (stamp === null) return false;
  const tags = list.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etagOf(stamp));
}
