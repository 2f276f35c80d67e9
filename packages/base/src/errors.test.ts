// What programs do with each code. A change of these sets changes their behavior.
import { expect, test } from 'vitest';
import { type ErrorCode, type ErrorKind, errorCatalogue, isPeerCode } from './errors.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];
const codesWith = (pick: (kind: ErrorKind, code: ErrorCode) => boolean): ErrorCode[] =>
  codes.filter((code) => pick(errorCatalogue[code], code)).sort();
const meaning = (code: ErrorCode): string => {
  const { outcome, retry } = errorCatalogue[code];
  return `${outcome} ${retry}`;
};

test('these codes send a request to another server', () => {
  expect(codesWith(({ retry }) => retry === 'other-server')).toEqual([
    'ACCESS_PENDING',
    'CALLER_UNPROVEN',
    'COPY_INVALID',
    'PARTITION_DAMAGED',
    'PARTITION_FILLING',
    'PEER_BUSY',
    'PEER_FAILED',
    'PEER_TIMEOUT',
    'PEER_UNPROVEN',
    'PEER_UNREACHABLE',
    'RECORD_DAMAGED',
    'RING_UNKNOWN',
    'RING_VERSION_UNKNOWN',
    'STORE_CLOSED',
    'STORE_FAILED',
    'WIRE_VERSION_UNKNOWN',
  ]);
});

test('these codes call for a newer ring', () => {
  const old = codesWith(({ retry }) => retry === 'after-ring');
  expect(old).toEqual(['NOT_RESPONSIBLE', 'RING_STALE']);
});

test('these codes let the same server be tried again later', () => {
  expect(codesWith(({ retry }) => retry === 'same-server')).toEqual([
    'BEACON_REFUSED',
    'CLOCK_BEHIND',
    'COPY_BUSY',
    'COPY_CUT',
    'DISK_FULL',
    'HEAD_STORE_UNREACHABLE',
    'KEY_CONTENDED',
    'LOCK_HELD',
    'NOT_ENOUGH_REPLICAS',
    'RING_STORES_TOO_FEW',
    'ROLLOUT_STALLED',
    'SERVERS_NOT_CONFIRMED',
    'SESSION_BEHIND',
    'STORE_BUSY',
  ]);
});

test('after these codes the request may have taken effect', () => {
  expect(codesWith(({ outcome }) => outcome === 'maybe-done')).toEqual([
    'CLIENT_CLOSED',
    'DISK_FAILED',
    'HEAD_UNKNOWN',
    'INTERNAL',
    'KEY_CONTENDED',
    'KEY_OVERTAKEN',
    'NOT_ENOUGH_REPLICAS',
    'PARTITION_DAMAGED',
    'PARTITION_FILLING',
    'PEER_BUSY',
    'PEER_FAILED',
    'PEER_TIMEOUT',
    'PEER_UNREACHABLE',
    'RECORD_DAMAGED',
    'ROLLOUT_STALLED',
    'SERVERS_NOT_CONFIRMED',
    'STORE_FAILED',
    'WRITE_UNKNOWN',
  ]);
  expect(codesWith(({ outcome }) => outcome === 'done')).toEqual(['SUPERSEDED']);
});

// Sets that client and server each had before the catalogue existed.

test.each<ErrorCode>([
  'RING_STALE',
  'RING_UNKNOWN',
  'RING_VERSION_UNKNOWN',
  'NOT_RESPONSIBLE',
  'CLOCK_AHEAD',
  'STAMP_TOO_OLD',
  'STORE_BUSY',
  'DISK_FULL',
])('a device that answers %s has stored nothing', (code) => {
  expect(errorCatalogue[code].outcome).toBe('not-done');
});

test.each<ErrorCode>([
  'RING_UNKNOWN',
  'RING_STALE',
  'STORE_BUSY',
  'STORE_CLOSED',
  'WIRE_VERSION_UNKNOWN',
])('after %s a client sends the write again', (code) => {
  expect(meaning(code)).toMatch(/^not-done (same-server|other-server|after-ring)$/);
});

test.each<ErrorCode>(['PEER_UNREACHABLE', 'PEER_TIMEOUT', 'PEER_FAILED', 'STORE_FAILED'])(
  'after %s a client reads elsewhere, and does not know the outcome of a write',
  (code) => {
    expect(meaning(code)).toBe('maybe-done other-server');
  },
);

test('no code of a safety rule is retried, except a refused beacon', () => {
  const rules = ({ exit }: ErrorKind): boolean => exit === 5;
  expect(codesWith((kind) => rules(kind) && kind.retry !== 'never')).toEqual(['BEACON_REFUSED']);
});

test('isPeerCode accepts exactly the codes about a peer', () => {
  expect(codesWith((_kind, code) => isPeerCode(code))).toEqual([
    'PEER_BUSY',
    'PEER_FAILED',
    'PEER_TIMEOUT',
    'PEER_UNPROVEN',
    'PEER_UNREACHABLE',
  ]);
});
