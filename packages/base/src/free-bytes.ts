// Gives memory back at once, instead of when the garbage collector comes by: bytes that were given
// here are empty afterwards.

/** Shorter ones may lie in what a socket read at once, 64 KiB, beside the begin of the next. */
const FREED_BYTES_MIN = 128 * 1024;
/** What a buffer may hold besides: the head of a message, which nobody looks at any more. */
const OTHER_BYTES_MAX = 64;

/**
 * For long bytes that nobody will look at again, in any view. Megabytes of dead buffers a second
 * make V8 mark its whole heap again and again: half of the time of a copied file went there. Bytes
 * that share their memory with others are left alone.
 */
export function freeBytes(bytes: Uint8Array): void {
  if (bytes.byteLength >= FREED_BYTES_MIN) freeOwnBytes(bytes);
}

/** The same for bytes that no socket read, of any length. */
export function freeOwnBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (!(buffer instanceof ArrayBuffer)) return;
  if (buffer.byteLength - bytes.byteLength <= OTHER_BYTES_MAX) buffer.transfer(0);
}
