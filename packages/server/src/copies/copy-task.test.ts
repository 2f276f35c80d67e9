// Tests which retry time is used when a busy device sends one. A device of another release may send
// anything.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { retryAfterMs } from './copy-task.ts';

const busy = (details: Record<string, unknown>): CodedError =>
  new CodedError('COPY_BUSY', 'busy', { details });

test('a valid retry time is used unchanged', () => {
  expect(retryAfterMs(busy({ retryAfterMs: 7 }), 500)).toBe(7);
  expect(retryAfterMs(busy({ retryAfterMs: Number.POSITIVE_INFINITY }), 500)).toBe(Infinity);
});

test.each([{ toString: 1 }, [[7]], -1, 0, 0.5, '7', Number.NaN, null, undefined])(
  'the invalid retry time %o is replaced by the usual one',
  (ms) => {
    expect(retryAfterMs(busy({ retryAfterMs: ms }), 500)).toBe(500);
  },
);

test('an error without details gives the usual retry time', () => {
  expect(retryAfterMs(new Error('gone'), 500)).toBe(500);
});
