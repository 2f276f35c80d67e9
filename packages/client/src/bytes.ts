// Keys and values as a caller gives them, checked before they travel. Pure.
import { checkKey } from '@ringwright/base/check-key';
import { CodedError } from '@ringwright/base/coded-error';
import { valueBytesMax } from '@ringwright/base/limits';

export function keyBytes(key: string | Uint8Array): Uint8Array {
  const bytes = toBytes(key);
  checkKey(bytes);
  return bytes;
}

export function valueBytes(value: string | Uint8Array): Uint8Array {
  const bytes = toBytes(value);
  if (bytes.length <= valueBytesMax) return bytes;
  const message = `a value of ${bytes.length} bytes, ${valueBytesMax} is the most`;
  throw new CodedError('VALUE_TOO_LARGE', message, { hint: 'split the value over several keys' });
}

function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content;
}
