// Keys in URLs: percent-encoded bytes, `/` allowed as it is. Pure.
import { checkKey } from '@ringwright/base/check-key';
import { CodedError } from '@ringwright/base/coded-error';

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
  const read = key.subarray(0, length);
  checkKey(read);
  return read;
}
