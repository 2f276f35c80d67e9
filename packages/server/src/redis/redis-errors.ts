// Failures as Redis words them: the first word is what client libraries look at. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { RedisRefusal } from './redis-command.ts';
import { errorReply, type RespReply } from './resp-reply.ts';

/** Codes whose meaning Redis has a word for; all others are ERR. */
const words: Partial<Record<ErrorCode, string>> = {
  NOT_ENOUGH_REPLICAS: 'NOREPLICAS',
  PARTITION_FILLING: 'LOADING',
  ACCESS_PENDING: 'LOADING',
  DISK_FULL: 'MISCONF',
  STORE_FAILED: 'MISCONF',
  STORE_BUSY: 'TRYAGAIN',
  PEER_BUSY: 'TRYAGAIN',
  KEY_CONTENDED: 'TRYAGAIN',
  KEY_OVERTAKEN: 'OVERTAKEN', // no TRYAGAIN: libraries would do it twice
  TOKEN_MISSING: 'NOAUTH',
  TOKEN_REFUSED: 'WRONGPASS',
  PERMISSION_MISSING: 'NOPERM',
  SUPERSEDED: 'SUPERSEDED',
  CLOCK_AHEAD: 'CLOCKAHEAD',
};

interface Failure {
  readonly reply: RespReply;
  /** Not expected: the log must have it. */
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

/** A write that failed at some replicas may still appear: the client must hear it. */
function outcomeOf({ outcome, details }: CodedError): string {
  if (details.outcome === undefined) return ''; // no write, or none that was begun
  return outcome === 'not-done' ? '; nothing was written' : '; a write may still appear';
}
