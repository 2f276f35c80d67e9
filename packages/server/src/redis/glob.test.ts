// Glob patterns against Redis's own examples, a slow oracle, and texts that count their reads.
import { keyBytesMax, patternBytesMax } from '@ringwright/base/limits';
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
])('the pattern %s on the text %s matches: %s', (pattern, text, wanted) => {
  expect(matches(pattern, text)).toBe(wanted);
});

/** Tries every way. It is so short that it is evidently correct. */
function oracle(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const [first, rest] = [pattern[0], pattern.slice(1)];
  if (first === '*') return oracle(rest, text) || (text !== '' && oracle(pattern, text.slice(1)));
  return text !== '' && (first === '?' || first === text[0]) && oracle(rest, text.slice(1));
}

test('short random patterns match what the oracle matches', () => {
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

test('long random patterns match what a regular expression matches', () => {
  const random = seededRandom(8);
  const word = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet[random.below(alphabet.length)]).join('');
  const counts = { yes: 0, no: 0 };
  for (let round = 0; round < 500; round += 1) {
    const text = word('ab', 1 + random.below(200));
    // Pieces of the text with stars between them, so that many patterns match.
    const pieces = Array.from({ length: 1 + random.below(3) }, () => {
      const from = random.below(text.length);
      return text.slice(from, from + random.below(70)).replace(/a(?=b)/g, '[^b]');
    });
    const pattern = `${word('*?', random.below(2))}${pieces.join('*')}*`;
    const wanted = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(
      text,
    );
    counts[wanted ? 'yes' : 'no'] += 1;
    expect(matches(pattern, text), `${pattern} on ${text}`).toBe(wanted);
  }
  expect(Math.min(counts.yes, counts.no)).toBeGreaterThan(50);
});

/** A text that counts how often its bytes are read. */
function countedText(text: string): { readonly bytes: Uint8Array; readonly reads: () => number } {
  let reads = 0;
  const bytes = new Uint8Array(Buffer.from(text));
  const iterate = bytes[Symbol.iterator].bind(bytes);
  const get = (_: Uint8Array, name: string | symbol): unknown => {
    if (name === Symbol.iterator) {
      return function* counted() {
        for (const byte of iterate()) {
          reads += 1;
          yield byte;
        }
      };
    }
    if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
    return Reflect.get(bytes, name, bytes);
  };
  return { bytes: new Proxy(bytes, { get }), reads: () => reads };
}

test.each([
  ['*a{500}b', `*${'a'.repeat(500)}b`],
  ['many stars', `${'a*'.repeat(500)}c`],
  ['many classes', `*${'[^b]'.repeat(250)}c`],
  ['many question marks', `*${'?'.repeat(1_000)}b`],
])('a match with %s reads each byte of the text once', (_, pattern) => {
  const { bytes, reads } = countedText('a'.repeat(keyBytesMax));
  expect(globMatcher(Buffer.from(pattern))(bytes)).toBe(false);
  expect(reads()).toBe(keyBytesMax);
});

test('a pattern that is longer than any key is refused', () => {
  expect(matches('*'.repeat(patternBytesMax), 'a')).toBe(true);
  expect(() => globMatcher(Buffer.alloc(patternBytesMax + 1, '[a]'))).toThrow(
    expect.objectContaining({ code: 'PATTERN_TOO_LARGE' }),
  );
});
