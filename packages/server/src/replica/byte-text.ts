// Bytes as a text of one character a byte: what maps and parsers compare. Pure.

export function byteText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}
