import { expect, test } from 'vitest';
import { CodedError } from './coded-error.ts';
import { type ErrorCode, errorCatalogue } from './errors.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

test('an error has the properties of its code, and its JSON is plain', () => {
  const cause = new Error('socket closed');
  const error = new CodedError('DEVICE_UNKNOWN', 'ring objects has no device 9', {
    hint: 'run ring-builder status objects',
    details: { ring: 'objects', device: 9 },
    cause,
  });
  expect(error).toBeInstanceOf(Error);
  expect([error.exit, error.http, error.cause]).toEqual([2, 404, cause]);
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    code: 'DEVICE_UNKNOWN',
    message: 'ring objects has no device 9',
    hint: 'run ring-builder status objects',
    details: { ring: 'objects', device: 9 },
  });
});

test('without options the hint and the details are empty, and there is no cause', () => {
  const error = new CodedError('USAGE', 'no command');
  expect(error.toJSON()).toEqual({ code: 'USAGE', message: 'no command', hint: '', details: {} });
  expect('cause' in error).toBe(false);
});

test('the outcome is the one that the error states, else the one of its code', () => {
  const outcomeOf = (code: ErrorCode, outcome?: string): string =>
    new CodedError(code, '', outcome === undefined ? {} : { details: { outcome } }).outcome;
  expect(outcomeOf('NOT_ENOUGH_REPLICAS')).toBe('maybe-done');
  expect(outcomeOf('NOT_ENOUGH_REPLICAS', 'rejected')).toBe('not-done');
  expect(outcomeOf('CLOCK_AHEAD')).toBe('not-done');
  expect(outcomeOf('CLOCK_AHEAD', 'unknown')).toBe('maybe-done');
  expect(outcomeOf('SUPERSEDED', 'of a newer release')).toBe('done');
  expect(new CodedError('RING_STALE', '').retry).toBe('after-ring');
});

test('every code is in capitals, and has a sentence, an exit code and an error status', () => {
  for (const code of codes) {
    const { means, exit, http } = errorCatalogue[code];
    expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
    expect(means, code).toMatch(/^\S.*[^.\s]$/);
    expect(exit, code).toBeGreaterThanOrEqual(1);
    expect(exit, code).toBeLessThanOrEqual(5);
    expect(http, code).toBeGreaterThanOrEqual(400);
    expect(http, code).toBeLessThan(600);
  }
});

test('no two codes have the same sentence', () => {
  const sentences = codes.map((code) => errorCatalogue[code].means);
  expect(new Set(sentences).size).toBe(sentences.length);
});
