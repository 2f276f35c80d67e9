import { expect, test } from 'vitest';
import { shortened } from './shortened.ts';

test('a text that is too long says that it was cut, and is as long as it may be', () => {
  expect(shortened('abc', 3)).toBe('abc');
  expect(shortened('abcd', 3)).toBe('ab…');
});
