// Bytes as a Buffer over the same memory, and as text. Pure.

export function asBuffer(bytes: Uint8Array): Buffer {
  if (bytes instanceof Buffer) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** One character per byte: the form that maps and parsers compare. */
export function byteText(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1');
}
