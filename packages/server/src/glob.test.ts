// Patterns against Redis's own examples, against a slow oracle, and against patterns made to hang.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { globMatcher } from './glob.ts';

const matches = (pattern: string, text: string): boolean =>
  globMatcher(Buffer.from(pattern))(Buffer.from(text));

test.each([
  ['h?llo', 'hello', true],
  ['h?llo', 'hllo', false],
  ['h*llo', 'heeeello', true],
  ['h*llo', 'hllo', true],
  ['h[ae]llo', 'hallo', true],
  ['h[ae]llo', 'hillo', false],
  ['h[^e]llo', 'hello', false],
  ['h[^e]llo', 'hbllo', true],
  ['h[a-b]llo', 'hbllo', true],
  ['h[b-a]llo', 'hallo', true],
  ['h[a-b]llo', 'hcllo', false],
  ['h\\*llo', 'h*llo', true],
  ['h\\*llo', 'hello', false],
  ['[\\]]', ']', true],
  ['[a', 'a', true],
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['**a', 'ba', true],
])('%s on %s', (pattern, text, wanted) => {
  expect(matches(pattern, text)).toBe(wanted);
});

/** Tries every way: right by its shortness. */
function oracle(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const [first, rest] = [pattern[0], pattern.slice(1)];
  if (first === '*') return oracle(rest, text) || (text !== '' && oracle(pattern, text.slice(1)));
  return text !== '' && (first === '?' || first === text[0]) && oracle(rest, text.slice(1));
}

test('as the oracle says', () => {
  const random = seededRandom(7);
  const word = (alphabet: string, most: number): string =>
    Array.from({ length: random.below(most) }, () => alphabet[random.below(alphabet.length)]).join(
      '',
    );
  for (let round = 0; round < 5_000; round += 1) {
    const [pattern, text] = [word('ab*?', 8), word('ab', 8)];
    expect(matches(pattern, text), `${pattern} on ${text}`).toBe(oracle(pattern, text));
  }
});

test('no pattern takes exponential time', () => {
  expect(matches(`${'a*'.repeat(500)}c`, 'a'.repeat(1_024))).toBe(false);
});
