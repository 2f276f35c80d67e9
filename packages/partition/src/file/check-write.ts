// Refuses writes that no store may take, before anything is queued. Pure.
import { checkKey } from '@ringwright/base/check-key';
import { CodedError } from '@ringwright/base/coded-error';
import { valueBytesMax } from '@ringwright/base/limits';
import { stampMsMax } from '@ringwright/base/stamp';
import type { Write } from './record.ts';
import { isStamp, isWholeUpTo } from './record-bytes.ts';

/** Throws KEY_INVALID, VALUE_TOO_LARGE, or VALUE_OUT_OF_RANGE for a stamp or an expiry. */
export function checkWrite(write: Write): void {
  const { key, value, ms, tie, expiresMs = 0, origin = null } = write;
  checkKey(key);
  if (value !== null && value.length > valueBytesMax) {
    throw new CodedError(
      'VALUE_TOO_LARGE',
      `value of ${value.length} bytes, allowed are ${valueBytesMax}`,
      { hint: 'store it in parts under several keys' },
    );
  }
  if (!isStamp(write) || (origin !== null && !isStamp(origin))) {
    throw new CodedError('VALUE_OUT_OF_RANGE', `stamp ${ms}.${tie} is no stamp`);
  }
  if (!isWholeUpTo(expiresMs, stampMsMax)) {
    throw new CodedError('VALUE_OUT_OF_RANGE', `expiry ${expiresMs} is no time`);
  }
}
