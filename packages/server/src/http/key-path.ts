// Keys in URLs: percent-encoded bytes, `/` allowed as it is. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { keyBytesMax } from '@ringwright/base/limits';

const PERCENT = 0x25;

/**
 * The key bytes of a URL path part. Throws KEY_INVALID for a bad escape, an empty or a too long
 * key.
 */
export function keyOfPath(part: string): Uint8Array {
  const raw = Buffer.from(part, 'latin1');
  const key = Buffer.allocUnsafe(raw.length);
  let length = 0;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at] ?? 0;
    if (byte !== PERCENT) {
      key[length++] = byte;
      continue;
    }
    const digits = raw.toString('latin1', at + 1, at + 3);
    if (!/^[0-9a-fA-F]{2}$/.test(digits)) {
      const message = `'%${digits}' at character ${at} of the key is no percent-encoding`;
      throw new CodedError('KEY_INVALID', message, { hint: 'write a percent sign as %25' });
    }
    key[length++] = Number.parseInt(digits, 16);
    at += 2;
  }
  if (length === 0 || length > keyBytesMax) {
    const message = `a key of ${length} bytes, allowed are 1 to ${keyBytesMax}`;
    const hint = 'keys are at /v1/KEYSPACE/KEY; use a hash of what is too long';
    const details = { bytes: length, max: keyBytesMax };
    throw new CodedError('KEY_INVALID', message, { hint, details });
  }
  return key.subarray(0, length);
}
