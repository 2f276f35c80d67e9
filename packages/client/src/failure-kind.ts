// What the failure of one attempt means for the next. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';

/**
 * `elsewhere`: another server may do it, and nothing was done here. `unknown`: the write may be
 * stored. `final`: every server would say the same.
 */
export type FailureKind = 'elsewhere' | 'unknown' | 'final';

/** The server cannot do it now, another may; said before anything was written. */
const ELSEWHERE: ReadonlySet<ErrorCode> = new Set([
  'RING_UNKNOWN',
  'RING_STALE',
  'STORE_BUSY',
  'STORE_CLOSED',
  'PARTITION_FILLING',
  'PEER_BUSY',
  'WIRE_VERSION_UNKNOWN',
]);

/** The connection or the server failed in the middle. */
const BROKEN: ReadonlySet<ErrorCode> = new Set([
  'PEER_UNREACHABLE',
  'PEER_TIMEOUT',
  'PEER_FAILED',
  'STORE_FAILED',
]);

/** Reads change nothing: whatever may differ at another server is worth asking it. */
export function readFailure(error: unknown): FailureKind {
  if (!(error instanceof CodedError)) return 'final';
  const { code } = error;
  const slots = code === 'NOT_ENOUGH_REPLICAS' || code === 'SESSION_BEHIND';
  return slots || ELSEWHERE.has(code) || BROKEN.has(code) ? 'elsewhere' : 'final';
}

/** A coordinator that says `rejected` has stored the record nowhere. */
export function writeFailure(error: unknown): FailureKind {
  if (!(error instanceof CodedError)) return 'final';
  const { code, details } = error;
  if (details.outcome === 'rejected') return 'elsewhere';
  if (details.outcome === 'unknown' || BROKEN.has(code)) return 'unknown';
  return ELSEWHERE.has(code) ? 'elsewhere' : 'final';
}
