// Bytes as a text of one character a byte: what maps and parsers compare. Pure.
import { asBuffer } from '@ringwright/base/as-buffer';

export function byteText(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1');
}
