// Conditions and times to live as callers give them, checked before anything is sent. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { ttlMsMax } from '@ringwright/base/limits';
import { parseStamp } from '@ringwright/base/stamp';
import type { Condition } from '@ringwright/wire/coordination';

/** Throws USAGE for a text that is no stamp. */
export function conditionOf(text: string | undefined): Condition | null {
  if (text === undefined) return null;
  if (text === 'absent' || text === 'present') return text;
  const stamp = parseStamp(text);
  if (stamp !== null) return stamp;
  throw new CodedError('USAGE', `condition ${JSON.stringify(text.slice(0, 64))}`, {
    hint: "use 'absent', 'present' or the stamp of a record",
  });
}

/** Throws VALUE_OUT_OF_RANGE. */
export function checkTtl(ttlMs: number | undefined): number | null {
  if (ttlMs === undefined) return null;
  if (Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= ttlMsMax) return ttlMs;
  throw new CodedError('VALUE_OUT_OF_RANGE', `ttlMs is ${ttlMs}, allowed are 1 to ${ttlMsMax}`, {
    hint: 'leave it out for a record that does not expire',
  });
}
