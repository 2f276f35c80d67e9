// Tests which source names the author of a change, and which names are invalid.
import { expect, test } from 'vitest';
import { type AuthorSources, authorName } from './author-name.ts';

const noAccount = (): string => {
  throw new Error('uv_os_get_passwd returned ENOENT');
};

const sources: AuthorSources = {
  authorOption: 'alice',
  env: { RINGWRIGHT_AUTHOR: 'bot', SUDO_USER: 'bob' },
  account: () => 'root',
  uid: 0,
  host: 'db1',
};

test('the author is the first source that is present, with the host name appended', () => {
  expect(authorName(sources)).toBe('alice@db1');
  expect(authorName({ ...sources, authorOption: undefined })).toBe('bot@db1');
  const rest = { ...sources, authorOption: undefined, env: { SUDO_USER: 'bob' } };
  expect(authorName(rest)).toBe('bob@db1');
  expect(authorName({ ...rest, env: {} })).toBe('root@db1');
  expect(authorName({ ...rest, env: { SUDO_USER: '' } })).toBe('root@db1');
});

test('a name that contains @ is not changed', () => {
  expect(authorName({ ...sources, authorOption: 'alice@example.org' })).toBe('alice@example.org');
});

test('a user id without an account name becomes uid-N, or somebody without a user id', () => {
  const nameless = { ...sources, authorOption: undefined, env: {}, account: noAccount };
  expect(authorName({ ...nameless, uid: 12_345 })).toBe('uid-12345@db1');
  expect(authorName({ ...nameless, uid: undefined })).toBe('somebody@db1');
});

test('an invalid name is refused in --author and skipped in SUDO_USER', () => {
  for (const name of ['', '  ', 'a\nb', 'a\u001b[2J', 'x'.repeat(129), 'a\u2028b', 'a\u202eb']) {
    expect(() => authorName({ ...sources, authorOption: name }), name).toThrow(
      expect.objectContaining({ code: 'USAGE' }),
    );
    const env = { SUDO_USER: name };
    expect(authorName({ ...sources, authorOption: undefined, env }), name).toBe('root@db1');
  }
});
