// The only check of a key's length, for everything that accepts keys: HTTP, Redis, client, store.
// Pure. (The wire enforces the same limit in the schema of its messages.)
import { CodedError } from './coded-error.ts';
import { keyBytesMax } from './limits.ts';

/**
 * Throws KEY_INVALID unless the key has 1 to keyBytesMax bytes. `place` is a prefix of the message,
 * such as `items.3: ` in a batch.
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
