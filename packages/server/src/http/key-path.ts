// Keys in URLs: percent-encoded bytes, `/` allowed as it is. Pure.
import { checkKey } from '@ringwright/base/check-key';
import { keyOfText } from '@ringwright/ring/partitioner/key-text';

/**
 * The key bytes of a URL path part, which is ASCII: Node refuses other requests. Throws KEY_INVALID
 * for a bad escape, an empty or a too long key.
 */
export function keyOfPath(part: string): Uint8Array {
  const key = keyOfText(part);
  checkKey(key);
  return key;
}
