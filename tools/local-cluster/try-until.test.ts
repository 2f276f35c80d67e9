// Which failed attempts are retried, and whether their outcome is known.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { expect, test } from 'vitest';
import { tryUntil } from './try-until.ts';

/** Returns a function that fails with each of these codes in turn and then succeeds. */
function failingWith(...codes: ErrorCode[]): () => Promise<string> {
  const left = [...codes];
  return () => {
    const code = left.shift();
    return code === undefined ? Promise.resolve('done') : Promise.reject(new CodedError(code, ''));
  };
}

test('temporary failures are retried, and possible effects of them are reported', async () => {
  expect(await tryUntil(failingWith())).toEqual({ answer: 'done', failed: 0, isUnsure: false });
  const nothingDone = await tryUntil(failingWith('RING_UNKNOWN', 'STORE_BUSY'));
  expect(nothingDone).toEqual({ answer: 'done', failed: 2, isUnsure: false });
  const lost = await tryUntil(failingWith('WRITE_UNKNOWN', 'STORE_BUSY'));
  expect(lost).toEqual({ answer: 'done', failed: 2, isUnsure: true });
  expect(await tryUntil(failingWith('SUPERSEDED'))).toMatchObject({ isUnsure: true });
});

test('a permanent failure is not retried', async () => {
  await expect(tryUntil(failingWith('KEY_INVALID'))).rejects.toMatchObject({ code: 'KEY_INVALID' });
  await expect(tryUntil(() => Promise.reject(new TypeError('a bug')))).rejects.toThrow(TypeError);
});
