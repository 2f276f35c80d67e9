// A record as it travels and as coordinators see it; expiry and origin only if it has them. Pure.
import type { Stamp } from '@ringwright/base/stamp';
import type { RecordContent } from '@ringwright/partition/file/record';
import { isDeletedAt } from '@ringwright/partition/file/record';
import type { AnswerOf } from '@ringwright/wire/message';
import type { recordRead } from '@ringwright/wire/records';

export type WireContent = NonNullable<AnswerOf<typeof recordRead>['record']>;

export function wireContent(record: Omit<RecordContent, 'key'>): WireContent {
  const { value, ms, tie, expiresMs, origin } = record;
  if (expiresMs === 0 && origin === null) return { value, ms, tie };
  return { value, ms, tie, ...(expiresMs > 0 && { expiresMs }), ...(origin && { origin }) };
}

/** A record with a value; null if there is no value or it has expired. */
export type Valued = (WireContent & { readonly value: Uint8Array }) | null;

/** Expects the result of asOf, in which an expired record is a tombstone. */
export function liveOrNull(record: WireContent | null): Valued {
  return record !== null && hasValue(record) ? record : null;
}

function hasValue(record: WireContent): record is NonNullable<Valued> {
  return record.value !== null;
}

/**
 * Returns the identity by which clients know a record: its first stamp, even if it was stored again
 * later.
 */
export function identityOf({ ms, tie, origin }: Pick<WireContent, 'ms' | 'tie' | 'origin'>): Stamp {
  return origin ?? { ms, tie };
}

/**
 * Returns the record as a client sees it at that time: an expired record is a tombstone with the
 * record's own stamp.
 */
export function asOf<Kind extends WireContent | null>(record: Kind, nowMs: number): Kind {
  return record !== null && isDeletedAt(record, nowMs) ? { ...record, value: null } : record;
}
