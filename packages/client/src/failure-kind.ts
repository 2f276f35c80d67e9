// What the failure of one attempt means for the next. Pure.
import { CodedError } from '@ringwright/base/coded-error';

/**
 * `elsewhere`: another server may do it, and nothing was done here. `unknown`: the write may be
 * stored. `final`: every server would say the same.
 */
export type FailureKind = 'elsewhere' | 'unknown' | 'final';

/** Reads change nothing: whatever may differ later, or at another server, is worth asking it. */
export function readFailure(error: unknown): FailureKind {
  return error instanceof CodedError && error.retry !== 'never' ? 'elsewhere' : 'final';
}

/**
 * A coordinator that has begun a write says in `details.outcome` whether the record is stored
 * nowhere: then another one may be asked, whatever its code is.
 */
export function writeFailure(error: unknown): FailureKind {
  if (!(error instanceof CodedError)) return 'final';
  const isTold = error.details.outcome !== undefined;
  if (error.retry === 'never' && !isTold) return 'final';
  return error.outcome === 'not-done' ? 'elsewhere' : 'unknown';
}

/**
 * Of the failures of one request at two servers the one to tell. `before`: null at the first. That
 * a server lacks the ring, as one does whose disk was replaced, says nothing about the others.
 */
export function tellingFailure(before: unknown, next: unknown): unknown {
  const lacksRing = next instanceof CodedError && next.code === 'RING_UNKNOWN';
  return lacksRing && before !== null ? before : next;
}
