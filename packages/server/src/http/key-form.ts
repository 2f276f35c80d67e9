// Keys in JSON: as text, or in base64 where they are not text. Pure.
import { asBuffer } from '@ringwright/base/as-buffer';

/** Returns a key in the form in which a batch accepts it. */
export function keyForm(key: Uint8Array): { key: string } | { key64: string } {
  const bytes = asBuffer(key);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? { key: text } : { key64: bytes.toString('base64') };
}
