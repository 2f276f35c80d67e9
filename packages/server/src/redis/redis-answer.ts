// Answers of one connection, which are sent in the order of their requests.
import type { Socket } from 'node:net';
import { freeOwnBytes } from '@ringwright/base/free-bytes';

/** The place of one answer among the others. */
export interface Answer {
  /** The encoded answer, or null until it is known. */
  bytes: Buffer | null;
  /** The rest of an answer with a long value, sent uncopied after `bytes`. */
  rest: readonly Uint8Array[] | null;
  readonly name: string;
  readonly startMs: number;
}

/**
 * The memory of answers at least this long is freed at once, without waiting for the garbage
 * collector.
 */
const FREED_BYTES_MIN = 32 * 1024;

/** Sends the answers in one system call. */
export function writeAnswers(socket: Socket, leaving: readonly Answer[]): void {
  const pieces = leaving.map(({ bytes }) => bytes ?? Buffer.alloc(0));
  const [first] = pieces;
  if (leaving.some(({ rest }) => rest !== null)) writeLong(socket, leaving);
  else if (first !== undefined)
    writeOne(socket, pieces.length === 1 ? first : Buffer.concat(pieces));
}

function writeOne(socket: Socket, bytes: Buffer): void {
  if (bytes.length < FREED_BYTES_MIN) socket.write(bytes);
  else socket.write(bytes, () => freeOwnBytes(bytes));
}

function writeLong(socket: Socket, leaving: readonly Answer[]): void {
  socket.cork();
  for (const { bytes, rest } of leaving) {
    if (bytes !== null) socket.write(bytes);
    for (const piece of rest ?? []) socket.write(piece);
  }
  socket.uncork();
}
