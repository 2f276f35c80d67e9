// Keys and values as a caller gives them, checked before they travel. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { keyBytesMax, valueBytesMax } from '@ringwright/base/limits';

export function checkKey(key: string | Uint8Array): Uint8Array {
  const bytes = toBytes(key);
  if (bytes.length > 0 && bytes.length <= keyBytesMax) return bytes;
  const message = `a key of ${bytes.length} bytes, allowed are 1 to ${keyBytesMax}`;
  throw new CodedError('KEY_INVALID', message, { hint: 'use a shorter key, or a hash of it' });
}

export function checkValue(value: string | Uint8Array): Uint8Array {
  const bytes = toBytes(value);
  if (bytes.length <= valueBytesMax) return bytes;
  const message = `a value of ${bytes.length} bytes, ${valueBytesMax} is the most`;
  throw new CodedError('VALUE_TOO_LARGE', message, { hint: 'split the value over several keys' });
}

function toBytes(given: string | Uint8Array): Uint8Array {
  return typeof given === 'string' ? Buffer.from(given) : given;
}
