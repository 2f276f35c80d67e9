// Tests the error of a failed store: its message says why, and its hint says what to do.
import { expect, test } from 'vitest';
import { failureOf } from './store-parts.ts';

test('the error distinguishes a full disk from a broken one', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
  });
  const crowded = Object.assign(new Error('EMFILE: too many open files, open'), {
    code: 'EMFILE',
    syscall: 'open',
  });
  const broken = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  const failures = [full, broken, crowded].map((error) => failureOf(error, '/srv/sd1'));
  expect(failures).toMatchObject([
    {
      code: 'STORE_FAILED',
      exit: 4,
      message: `the disk of /srv/sd1 is full, and the store cannot continue: ${full.message}`,
      hint: expect.stringMatching(
        /^free some space, then start again: .*\/srv\/sd1\/trash; .*df -i/,
      ),
    },
    {
      code: 'STORE_FAILED',
      exit: 4,
      message: `the store of /srv/sd1 failed: ${broken.message}`,
      hint: expect.stringMatching(/^check the disk, then start again/),
    },
    { hint: expect.stringMatching(/ulimit -n.*, then start again/) },
  ]);
  expect(failureOf(failures[0], '/srv/sd2'), 'an error is wrapped only once').toBe(failures[0]);
});
