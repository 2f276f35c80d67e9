// Failures in Redis's form: client libraries look at the first word. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { RedisRefusal } from './redis-command.ts';
import { errorReply, type RespReply } from './resp-reply.ts';

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

interface Failure {
  readonly reply: RespReply;
  /** Unexpected, so it must be logged. */
  readonly isBug: boolean;
}

export function failureReply(error: unknown): Failure {
  if (error instanceof RedisRefusal) return { reply: errorReply(error.message), isBug: false };
  if (error instanceof CodedError) {
    const word = words[error.code] ?? 'ERR';
    return { reply: errorReply(`${word} ${error.message}${outcomeOf(error)}`), isBug: false };
  }
  return { reply: errorReply('ERR the server failed; its log has the reason'), isBug: true };
}

/** A write that failed at some replicas may still appear, so the client must learn of that. */
function outcomeOf({ outcome, details }: CodedError): string {
  if (details.outcome === undefined) return ''; // no write, or none was begun
  return outcome === 'not-done' ? '; nothing was written' : '; a write may still appear';
}
