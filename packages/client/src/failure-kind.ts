// Decides what the failure of one attempt means for the next. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { isPeerCode } from '@ringwright/base/errors';

/**
 * `elsewhere`: another server may succeed, and nothing was done here. `unknown`: the write may be
 * stored. `final`: every server would answer the same.
 */
type FailureKind = 'elsewhere' | 'unknown' | 'final';

/** Reads change nothing: if the answer may differ later, or at another server, asking pays off. */
export function readFailure(error: unknown): FailureKind {
  return error instanceof CodedError && error.retry !== 'never' ? 'elsewhere' : 'final';
}

/**
 * A coordinator that has begun a write says in `details.outcome` whether the record is stored
 * nowhere. Then another server may be asked, whatever the error's code.
 */
export function writeFailure(error: unknown): FailureKind {
  if (!(error instanceof CodedError)) return 'final';
  const isOutcomeKnown = error.details.outcome !== undefined;
  if (error.retry === 'never' && !isOutcomeKnown) return 'final';
  return error.outcome === 'not-done' ? 'elsewhere' : 'unknown';
}

/** A coordinator that answered has reported what it knows; otherwise only the loss is known. */
export function unknownWrite(error: unknown, isRepeated: boolean): unknown {
  if (!(error instanceof CodedError) || error.details.outcome === 'unknown') return error;
  const message = `the write may be stored: ${error.message}`;
  const hint = isRepeated
    ? 'read the key: one of the attempts may have taken effect'
    : 'read the key, or write again; with repeatUnknown the client writes again by itself';
  return new CodedError('WRITE_UNKNOWN', message, {
    hint,
    details: { outcome: 'unknown' },
    cause: error,
  });
}

/**
 * Of one request's failures at several servers, returns the one to report. `before`: null at the
 * first. A server's answer counts more than a broken connection. A server that lacks the ring, as
 * one does whose disk was replaced, says nothing about the others.
 */
export function mostSpecificFailure(before: unknown, next: unknown): unknown {
  return before === null || tellingRank(next) > tellingRank(before) ? next : before;
}

function tellingRank(error: unknown): number {
  if (!(error instanceof CodedError)) return 2;
  if (error.code === 'RING_UNKNOWN') return 0;
  return isPeerCode(error.code) ? 1 : 2;
}
