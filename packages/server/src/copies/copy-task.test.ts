// What a device of another mind may say of a time: the answer is one that can be waited for.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { retryAfterMs } from './copy-task.ts';

const busy = (details: Record<string, unknown>): CodedError =>
  new CodedError('COPY_BUSY', 'busy', { details });

test('a time is taken as it is', () => {
  expect(retryAfterMs(busy({ retryAfterMs: 7 }), 500)).toBe(7);
  expect(retryAfterMs(busy({ retryAfterMs: Number.POSITIVE_INFINITY }), 500)).toBe(Infinity);
});

test.each([{ toString: 1 }, [[7]], -1, 0, 0.5, '7', Number.NaN, null, undefined])(
  '%o is none',
  (said) => {
    expect(retryAfterMs(busy({ retryAfterMs: said }), 500)).toBe(500);
  },
);

test('other errors say nothing', () => {
  expect(retryAfterMs(new Error('gone'), 500)).toBe(500);
});
