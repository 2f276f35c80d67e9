import { open } from 'node:fs/promises';
import { diskError } from '@ringwright/base/disk-error';
import { expect, test } from 'vitest';
import { withPath } from './with-path.ts';

test('an error of a full disk names the file that was written', async () => {
  const path = '/dev/full';
  await using full = await open(path, 'w');
  const failed = await full.writeFile('x').catch(withPath(path)).catch(diskError);
  expect(failed).toMatchObject({
    code: 'DISK_FAILED',
    message: "ENOSPC: no space left on device, write '/dev/full'",
    details: { code: 'ENOSPC', path },
  });
});

test('other errors, and errors with a path, stay as they are', async () => {
  const missing: Error = await open('/nowhere/a', 'r').then(
    () => new Error('it opened'),
    (error: Error) => error,
  );
  const { message } = missing;
  for (const error of [missing, new Error('plain')]) {
    expect(() => withPath('/tmp/b')(error)).toThrow(error);
  }
  expect(missing.message).toBe(message);
});
