// A stored record as it travels: expiry and origin only where it has them. Pure.
import type { RecordContent } from '@ringwright/partition/record-bytes';
import type { AnswerOf } from '@ringwright/wire/message';
import type { recordRead } from '@ringwright/wire/records';

export type WireContent = NonNullable<AnswerOf<typeof recordRead>['record']>;

export function wireContent(record: Omit<RecordContent, 'key'>): WireContent {
  const { value, ms, tie, expiresMs, origin } = record;
  if (expiresMs === 0 && origin === null) return { value, ms, tie };
  return { value, ms, tie, ...(expiresMs > 0 && { expiresMs }), ...(origin && { origin }) };
}
