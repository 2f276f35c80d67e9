// Validates the caller's conditions, levels and times before anything is sent. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { ttlMsMax } from '@ringwright/base/limits';
import { printable } from '@ringwright/base/printable';
import { parseStampOrTag } from '@ringwright/base/stamp';
import {
  type Condition,
  type ConsistencyLevel,
  consistencyField,
} from '@ringwright/wire/coordination';

/** Throws USAGE for a text that is no stamp. */
export function conditionOf(text: string | undefined): Condition | null {
  if (text === undefined) return null;
  if (text === 'absent' || text === 'present') return text;
  const stamp = parseStampOrTag(text);
  if (stamp !== null) return stamp;
  const typed = printable(JSON.stringify(text.slice(0, 64)));
  throw new CodedError('USAGE', `unknown condition ${typed}`, {
    hint: "use 'absent', 'present', or the stamp or ETag of a record",
  });
}

const levels: readonly string[] = consistencyField.options;

/** JavaScript programs may pass anything. Throws CONSISTENCY_INVALID. */
export function checkConsistency<Level extends ConsistencyLevel | undefined>(level: Level): Level {
  if (level === undefined || levels.includes(level)) return level;
  const typed = printable(String(level));
  throw new CodedError('CONSISTENCY_INVALID', `'${typed}' is not a consistency level`, {
    hint: `use ${levels.join(', ')}`,
  });
}

/** Maximum of a timer: longer ones fire at once. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** Throws VALUE_OUT_OF_RANGE. */
export function checkTimeout(timeoutMs: number): number {
  if (timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX) return timeoutMs;
  const message = `timeoutMs is ${timeoutMs}, allowed are more than 0 and up to ${TIMEOUT_MS_MAX}`;
  throw new CodedError('VALUE_OUT_OF_RANGE', message, { details: { timeoutMs } });
}

/** Throws VALUE_OUT_OF_RANGE. */
export function checkTtl(ttlMs: number | undefined): number | null {
  if (ttlMs === undefined) return null;
  if (Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= ttlMsMax) return ttlMs;
  throw new CodedError('VALUE_OUT_OF_RANGE', `ttlMs is ${ttlMs}, allowed are 1 to ${ttlMsMax}`, {
    hint: 'leave it out for a record that does not expire',
  });
}
