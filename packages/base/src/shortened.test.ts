import { expect, test } from 'vitest';
import { shortened } from './shortened.ts';

test('a text that is too long shows that it was cut, and has the maximum length', () => {
  expect(shortened('abc', 3)).toBe('abc');
  expect(shortened('abcd', 3)).toBe('ab…');
});
