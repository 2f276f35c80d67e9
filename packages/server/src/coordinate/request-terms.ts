// The terms of a request, as they are given to a server: a consistency level, a time to live. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { ttlMsMax } from '@ringwright/base/limits';
import { type ConsistencyLevel, consistencyField } from '@ringwright/wire/coordination';

/**
 * Returns the level that a request names, or quorum if it names none. Throws CONSISTENCY_INVALID.
 */
export function parseConsistency(text: string | null): ConsistencyLevel {
  if (text === null) return 'quorum';
  const { success, data } = consistencyField.safeParse(text);
  if (success) return data;
  throw new CodedError('CONSISTENCY_INVALID', `'${text}' is not a consistency level`, {
    hint: 'use ?consistency=one, quorum, all or linearizable',
    details: { given: text, levels: consistencyField.options },
  });
}

/** Returns the Unix ms at which a time to live that begins now ends. Throws VALUE_OUT_OF_RANGE. */
export function expiryOf(ttlMs: number, nowMs: number): number {
  if (Number.isInteger(ttlMs) && ttlMs > 0 && ttlMs <= ttlMsMax) return nowMs + ttlMs;
  const message = `a time to live of ${ttlMs} ms is outside 1 to ${ttlMsMax}`;
  const hint = 'leave it out for a record that does not expire';
  throw new CodedError('VALUE_OUT_OF_RANGE', message, { hint });
}

/**
 * Converts seconds, written in digits with up to three decimals, to ms. Throws VALUE_OUT_OF_RANGE.
 */
export function ttlMsOf(seconds: string): number {
  if (/^\d{1,12}(\.\d{1,3})?$/.test(seconds)) return Math.round(Number(seconds) * 1000);
  const quoted = JSON.stringify(seconds.slice(0, 40));
  throw new CodedError('VALUE_OUT_OF_RANGE', `${quoted} is not a time to live in seconds`, {
    hint: 'give seconds: ttl=3600 is an hour, ttl=0.5 half a second',
  });
}
