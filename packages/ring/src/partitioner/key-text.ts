// A key of any bytes as printable text and back, percent-encoded as in a URL (%2F). Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { shortened } from '@ringwright/base/shortened';

const [percent, comma] = [0x25, 0x2c];

/** Returns the canonical text: printable ASCII except `%` and `,` as is, other bytes as %XX. */
export function keyText(key: Uint8Array): string {
  let text = '';
  for (const byte of key) {
    const plain = byte >= 0x21 && byte <= 0x7e && byte !== percent && byte !== comma;
    text += plain ? String.fromCharCode(byte) : `%${hexOf(byte)}`;
  }
  return text;
}

/**
 * Returns the bytes of a text; other characters than ASCII stand for their UTF-8 bytes. Throws
 * KEY_INVALID for a bad escape.
 */
export function keyOfText(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    let byte = bytes[at] ?? 0;
    if (byte === percent) {
      const digits = bytes.toString('latin1', at + 1, at + 3);
      if (!/^[0-9a-fA-F]{2}$/.test(digits)) throw noHex(text, digits);
      byte = Number.parseInt(digits, 16);
      at += 2;
    }
    // Decodes in place: the read position never falls behind the write position.
    bytes[length] = byte;
    length += 1;
  }
  return bytes.subarray(0, length);
}

function hexOf(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0');
}

function noHex(text: string, digits: string): CodedError {
  const key = shortened(text);
  const message = `key ${JSON.stringify(key)} has '%${digits}', which is not a byte in hex`;
  return new CodedError('KEY_INVALID', message, {
    hint: 'write a percent sign as %25',
    details: { key, found: digits },
  });
}
