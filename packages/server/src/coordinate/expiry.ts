// Converts times to live, as clients send them, to the times at which records expire. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { ttlMsMax } from '@ringwright/base/limits';

/** Returns the Unix ms at which a time to live that begins now ends. Throws VALUE_OUT_OF_RANGE. */
export function expiryOf(ttlMs: number, nowMs: number): number {
  if (Number.isInteger(ttlMs) && ttlMs > 0 && ttlMs <= ttlMsMax) return nowMs + ttlMs;
  throw new CodedError(
    'VALUE_OUT_OF_RANGE',
    `a time to live of ${ttlMs} ms, 1 to ${ttlMsMax} may be`,
    {
      hint: 'leave it out for a record that does not expire',
    },
  );
}

/**
 * Converts seconds, written in digits with up to three decimals, to ms. Throws VALUE_OUT_OF_RANGE.
 */
export function ttlMsOf(seconds: string): number {
  if (/^\d{1,12}(\.\d{1,3})?$/.test(seconds)) return Math.round(Number(seconds) * 1000);
  const given = JSON.stringify(seconds.slice(0, 40));
  throw new CodedError('VALUE_OUT_OF_RANGE', `${given} is no time to live in seconds`, {
    hint: 'give seconds: ttl=3600 is an hour, ttl=0.5 half a second',
  });
}
