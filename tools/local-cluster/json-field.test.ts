import { expect, test } from 'vitest';
import { countAt, fieldAt, numberAt } from './json-field.ts';

const document = { moves: [{}, {}], moved: 3, copied: { bytes: 10 } };

test('fields are found by path', () => {
  expect(numberAt(document, 'copied.bytes')).toBe(10);
  expect([countAt(document, 'moves'), countAt(document, 'moved')]).toEqual([2, 3]);
  expect(fieldAt(document, 'copied.files.first')).toBeUndefined();
});

test('a missing number is named, with the answer', () => {
  expect(() => numberAt(document, 'copied.seconds')).toThrow(
    /no number at copied.seconds: \{"moves"/,
  );
});
