import { expect, test } from 'vitest';
import { usageSentence } from './usage-sentence.ts';

test.each([
  ['Not enough arguments following: rings', '--rings needs a value'],
  ['Not enough arguments following: m', '-m needs a value'],
  [
    'Invalid values:\n  Argument: log-level, Given: "a", Choices: "silent", "error"',
    '--log-level "a": wanted one of silent, error',
  ],
  ['Missing required argument: keep', '--keep must be given'],
  ['Missing required arguments: keep, to', '--keep and --to must be given'],
  ['Unknown arguments: a, b', 'Unknown arguments: a, b'],
])('%j becomes a plain sentence', (said, sentence) => {
  expect(usageSentence(said)).toBe(sentence);
});
