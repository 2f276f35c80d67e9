// What a failure means for the next attempt: a write is sent again only if it is stored nowhere.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { expect, test } from 'vitest';
import { mostSpecificFailure, readFailure, writeFailure } from './failure-kind.ts';

const failed = (code: ErrorCode, outcome?: string): CodedError =>
  new CodedError(code, 'failed', outcome === undefined ? {} : { details: { outcome } });

test.each<readonly [CodedError, string, string]>([
  [failed('PEER_UNREACHABLE'), 'elsewhere', 'unknown'],
  [failed('PEER_TIMEOUT'), 'elsewhere', 'unknown'],
  [failed('STORE_FAILED'), 'elsewhere', 'unknown'],
  [failed('PEER_FAILED'), 'elsewhere', 'unknown'],
  [failed('PEER_BUSY', 'rejected'), 'elsewhere', 'elsewhere'],
  // The call may have run: the full queue is the one for its answer.
  [failed('PEER_BUSY'), 'elsewhere', 'unknown'],
  [failed('PARTITION_FILLING'), 'elsewhere', 'unknown'],
  [failed('RING_UNKNOWN'), 'elsewhere', 'elsewhere'],
  [failed('RING_STALE'), 'elsewhere', 'elsewhere'],
  [failed('STORE_BUSY'), 'elsewhere', 'elsewhere'],
  [failed('STORE_CLOSED'), 'elsewhere', 'elsewhere'],
  [failed('WIRE_VERSION_UNKNOWN'), 'elsewhere', 'elsewhere'],
  [failed('KEY_CONTENDED', 'rejected'), 'elsewhere', 'elsewhere'],
  [failed('NOT_ENOUGH_REPLICAS', 'rejected'), 'elsewhere', 'elsewhere'],
  [failed('NOT_ENOUGH_REPLICAS', 'unknown'), 'elsewhere', 'unknown'],
  [failed('PEER_TIMEOUT', 'rejected'), 'elsewhere', 'elsewhere'],
  [failed('SUPERSEDED'), 'final', 'final'],
  [failed('CLOCK_AHEAD'), 'final', 'final'],
  [failed('CLOCK_AHEAD', 'rejected'), 'final', 'elsewhere'],
  [failed('KEY_OVERTAKEN', 'unknown'), 'final', 'unknown'],
  [failed('WRITE_UNKNOWN'), 'final', 'final'],
  [failed('CLIENT_CLOSED'), 'final', 'final'],
  [failed('KEY_INVALID'), 'final', 'final'],
  [failed('SESSION_BEHIND'), 'elsewhere', 'elsewhere'],
])('%o has its kinds for reads and writes', (error, read, write) => {
  expect([readFailure(error), writeFailure(error)]).toEqual([read, write]);
});

test('bugs are final', () => {
  expect([readFailure(new Error('x')), writeFailure(new Error('x'))]).toEqual(['final', 'final']);
});

test('a server that lacks the ring says nothing about one that is unreachable', () => {
  const [lacks, away] = [failed('RING_UNKNOWN'), failed('PEER_UNREACHABLE')];
  expect(mostSpecificFailure(null, lacks)).toBe(lacks);
  expect(mostSpecificFailure(lacks, away)).toBe(away);
  expect(mostSpecificFailure(away, lacks)).toBe(away);
  expect(mostSpecificFailure(away, failed('STORE_BUSY'))).toMatchObject({ code: 'STORE_BUSY' });
});
