// Validates keys and values of the caller before they are sent. Pure.
import { checkKey } from '@ringwright/base/check-key';
import { CodedError } from '@ringwright/base/coded-error';
import { valueBytesMax } from '@ringwright/base/limits';
import { wrongType } from './wrong-type.ts';

/**
 * Throws KEY_INVALID, and USAGE for what is neither a string nor bytes, which JavaScript programs
 * may pass.
 */
export function keyBytes(key: string | Uint8Array): Uint8Array {
  const bytes = toBytes('key', key);
  checkKey(bytes);
  return bytes;
}

/** A bound of a scan: unlike a key, it may be empty. Throws like keyBytes. */
export function boundBytes(bound: string | Uint8Array = ''): Uint8Array {
  const bytes = toBytes('bound', bound);
  if (bytes.length > 0) checkKey(bytes);
  return bytes;
}

/** Throws VALUE_TOO_LARGE, and USAGE like keyBytes. */
export function valueBytes(value: string | Uint8Array): Uint8Array {
  const bytes = toBytes('value', value);
  if (bytes.length <= valueBytesMax) return bytes;
  const message = `a value of ${bytes.length} bytes; the maximum is ${valueBytesMax}`;
  throw new CodedError('VALUE_TOO_LARGE', message, { hint: 'split the value over several keys' });
}

function toBytes(name: string, content: string | Uint8Array): Uint8Array {
  if (content instanceof Uint8Array) return content;
  if (typeof content !== 'string') {
    throw wrongType(`the ${name}`, content, {
      wanted: 'a string or a Uint8Array',
      hint: 'JSON.stringify turns an object into a string, Buffer.from a list into bytes',
    });
  }
  if (content.isWellFormed()) return Buffer.from(content);
  // It has no UTF-8 form: two such strings would become the same bytes.
  throw new CodedError('USAGE', `the ${name} is a string with half a surrogate pair`, {
    hint: 'pass bytes that are not text as a Uint8Array',
  });
}
