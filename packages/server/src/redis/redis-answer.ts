// Answers of one connection, which leave in the order of their requests; and failures as Redis
// words them: the first word is what client libraries look at.
import type { Socket } from 'node:net';
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import { RedisRefusal } from './redis-command.ts';
import { errorReply, type RespReply } from './resp-reply.ts';

/** The place of one answer among the others. */
export interface PendingReply {
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
export function writeAnswers(socket: Socket, replies: readonly PendingReply[]): void {
  const pieces = replies.map(({ bytes }) => bytes ?? Buffer.alloc(0));
  const [first] = pieces;
  if (replies.some(({ rest }) => rest !== null)) writeLong(socket, replies);
  else if (first !== undefined)
    writeOne(socket, pieces.length === 1 ? first : Buffer.concat(pieces));
}

function writeOne(socket: Socket, bytes: Buffer): void {
  if (bytes.length < FREED_BYTES_MIN) socket.write(bytes);
  else socket.write(bytes, () => freeOwnBytes(bytes));
}

function writeLong(socket: Socket, replies: readonly PendingReply[]): void {
  socket.cork();
  for (const { bytes, rest } of replies) {
    if (bytes !== null) socket.write(bytes);
    for (const piece of rest ?? []) socket.write(piece);
  }
  socket.uncork();
}

/** Codes for which Redis has a word; all others are ERR. */
const words: Partial<Record<ErrorCode, string>> = {
  NOT_ENOUGH_REPLICAS: 'NOREPLICAS',
  PARTITION_FILLING: 'LOADING',
  ACCESS_PENDING: 'LOADING',
  DISK_FULL: 'MISCONF',
  STORE_FAILED: 'MISCONF',
  STORE_BUSY: 'TRYAGAIN',
  PEER_BUSY: 'TRYAGAIN',
  KEY_CONTENDED: 'TRYAGAIN',
  KEY_OVERTAKEN: 'OVERTAKEN', // not TRYAGAIN: libraries would repeat it
  TOKEN_MISSING: 'NOAUTH',
  TOKEN_REFUSED: 'WRONGPASS',
  PERMISSION_MISSING: 'NOPERM',
  SUPERSEDED: 'SUPERSEDED',
  CLOCK_AHEAD: 'CLOCKAHEAD',
};

/** What to do instead of the hint, which names the HTTP header. */
const tokenStep = 'send AUTH ID SECRET; ring-builder access grant creates a token';

interface Failure {
  readonly reply: RespReply;
  /** Unexpected, so it must be logged. */
  readonly isBug: boolean;
}

export function failureReply(error: unknown): Failure {
  if (error instanceof RedisRefusal) return { reply: errorReply(error.message), isBug: false };
  if (error instanceof CodedError) {
    const word = words[error.code] ?? 'ERR';
    const step = error.code === 'TOKEN_MISSING' ? `: ${tokenStep}` : '';
    const text = `${word} ${error.message}${step}${outcomeOf(error)}`;
    return { reply: errorReply(text), isBug: false };
  }
  return { reply: errorReply('ERR the server failed; its log has the reason'), isBug: true };
}

/** A write that failed at some replicas may still appear, so the client must learn of that. */
function outcomeOf({ outcome, details }: CodedError): string {
  if (details.outcome === undefined) return ''; // no write, or none was begun
  return outcome === 'not-done' ? '; nothing was written' : '; a write may still appear';
}
