// The one check of a key's length, for whoever takes keys: HTTP, Redis, client, store. Pure.
// (The wire refuses other keys by the schema of its messages, with the same limit.)
import { CodedError } from './coded-error.ts';
import { keyBytesMax } from './limits.ts';

/**
 * Throws KEY_INVALID unless the key has 1 to keyBytesMax bytes. `place` goes before the sentence,
 * such as `items.3: ` of a batch.
 */
export function checkKey(key: Uint8Array, place = ''): void {
  const { length } = key;
  if (length > 0 && length <= keyBytesMax) return;
  const message = `${place}a key of ${length} bytes, allowed are 1 to ${keyBytesMax}`;
  const hint =
    length === 0 ? 'name a key; one byte is enough' : 'use a shorter key, or a hash of it';
  throw new CodedError('KEY_INVALID', message, {
    hint,
    details: { bytes: length, max: keyBytesMax },
  });
}
