// Tests that the errors of files and of SQLite come with advice that fits them.
import { expect, test } from 'vitest';
import { diskError, errorOf, failureBy } from './disk-error.ts';

const failed = (code: string, properties: object = { syscall: 'open' }) =>
  diskError(Object.assign(new Error('it failed'), { code, ...properties }));

test.each([
  ['EMFILE', 'ulimit -n'],
  ['ENFILE', 'fs.file-max'],
  ['EFBIG', 'ulimit -f'],
  ['ENOSPC', 'free some space'],
  ['EACCES', 'owner and mode'],
])('%s has a hint about %s', (code, hint) => {
  expect(failed(code)).toMatchObject({ code: 'DISK_FAILED', details: { code } });
  expect(failed(code)?.hint).toContain(hint);
});

test('a file that another program has locked is not taken for one with a wrong owner', () => {
  expect(failed('SQLITE_BUSY', {})?.hint).toContain('another program has this file open');
});

test('errors of connections, and of other kinds, are no disk errors', () => {
  expect(failed('ECONNREFUSED', { syscall: 'connect', address: '127.0.0.1' })).toBeNull();
  expect(failed('ABORT_ERR', {})).toBeNull();
});

test.each([
  ['ENOSPC', 'DISK_FULL'],
  ['EIO', 'DISK_FAILED'],
  ['ABORT_ERR', null],
])('%s arrives in another process with the code %s', (code, expected) => {
  const properties = code === 'ABORT_ERR' ? {} : { syscall: 'write' };
  const sent = failureBy(Object.assign(new Error('it failed'), { code, ...properties }));
  expect(sent).toEqual({ code: expected, message: 'it failed' });
  const error: Error & { code?: string } = errorOf(structuredClone(sent));
  expect([error.message, error.code ?? null]).toEqual(['it failed', expected]);
});
