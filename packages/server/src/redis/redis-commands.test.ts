// An unknown command is refused as in Redis 7, at a small cost whatever its words are.
import { expect, test } from 'vitest';
import { RedisRefusal } from './redis-command.ts';
import { findCommand } from './redis-commands.ts';

function refusalOf(...words: readonly string[]): unknown {
  try {
    return findCommand(words.map((word) => Buffer.from(word)));
  } catch (error) {
    return error;
  }
}

test.each([
  ['no words', ['NOPE'], "'NOPE', with args beginning with: "],
  ['some words', ['nope', 'a', 'b'], "'nope', with args beginning with: 'a' 'b' "],
  ['a long name', ['n'.repeat(200)], `'${'n'.repeat(128)}', with args beginning with: `],
  ['a long word', ['no', 'x'.repeat(200)], `'no', with args beginning with: '${'x'.repeat(128)}' `],
  [
    'words of 128 bytes together',
    ['no', 'x'.repeat(120), 'abcdefgh', 'never'],
    `'no', with args beginning with: '${'x'.repeat(120)}' 'abcde' `,
  ],
])('an unknown command is refused: %s', (_, words, shown) => {
  expect(refusalOf(...words)).toMatchObject({ message: `ERR unknown command ${shown}` });
});

test('a refusal has no stack trace, and leaves the limit of other errors unchanged', () => {
  const { stackTraceLimit } = Error;
  const refusal = refusalOf('nope') as RedisRefusal;
  expect(refusal).toBeInstanceOf(RedisRefusal);
  expect(refusal.stack).toBe(`RedisRefusal: ${refusal.message}`);
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});
