// Bytes as a Buffer of the same memory, and as a text. Pure.

export function asBuffer(bytes: Uint8Array): Buffer {
  if (bytes instanceof Buffer) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A character a byte: what maps and parsers compare. */
export function byteText(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1');
}
