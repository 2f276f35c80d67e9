// Frees memory at once instead of at the next garbage collection. Freed byte arrays are empty.

/**
 * Shorter ones may share memory with other data: a socket reads 64 KiB at once, which may include
 * the start of the next message.
 */
const FREED_BYTES_MIN = 128 * 1024;
/** Other bytes allowed in the same buffer: the head of a message, which is no longer read. */
export const freedOtherBytesMax = 64;

/**
 * Frees long byte arrays that nobody will read again, through any view. Megabytes of dead buffers a
 * second make V8 mark its whole heap again and again, which took half of the time of a copied file.
 * Does nothing to bytes that share their memory with others.
 */
export function freeBytes(bytes: Uint8Array): void {
  if (bytes.byteLength >= FREED_BYTES_MIN) freeOwnBytes(bytes);
}

/** Frees bytes of any length; not for bytes that a socket read. */
export function freeOwnBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (!(buffer instanceof ArrayBuffer)) return;
  if (buffer.byteLength - bytes.byteLength <= freedOtherBytesMax) buffer.transfer(0);
}
