// Tests ranges of keys against a walk over all of them, and keys as text.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOfText, keyText } from './key-text.ts';
import { rangeOfKey } from './ranges.ts';

/** Few different bytes and common beginnings, so that keys are often close or equal. */
const byte = fc.constantFrom(0, 1, 0x61, 0x62, 0xff);
const key = fc
  .tuple(fc.constantFrom('', 'aaaaaa', 'DE/Berlin/'), fc.array(byte, { maxLength: 8 }))
  .map(([head, tail]) => Uint8Array.from([...Buffer.from(head), ...tail]))
  .filter(({ length }) => length > 0);

test('a key is in the last range that begins at or before it', () => {
  fc.assert(
    fc.property(fc.array(key), fc.array(key), fc.boolean(), (bounds, keys, turned) => {
      const sorted = [...new Set(bounds.map(keyText))]
        .map(keyOfText)
        .sort((a, b) => Buffer.compare(a, b));
      const starts = sorted.map(keyText);
      const partitions = starts.length + 1;
      const ids = turned ? [...Array(partitions).keys()].reverse() : undefined;
      const find = rangeOfKey({ kind: 'ranges', partitions, starts, ...(ids && { ids }) });
      for (const one of [...keys, ...sorted]) {
        const before = sorted.filter((start) => Buffer.compare(start, one) <= 0).length;
        expect(find(one)).toBe(ids?.[before] ?? before);
      }
    }),
  );
});

test('one range takes every key', () => {
  const find = rangeOfKey({ kind: 'ranges', partitions: 1, starts: [] });
  expect([Buffer.from(''), Buffer.from([255])].map(find)).toEqual([0, 0]);
});

test('every key has a printable text and is read back from it', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(keyText(bytes)).toMatch(/^[!-~]*$/);
      expect([...keyOfText(keyText(bytes))]).toEqual([...bytes]);
    }),
  );
  expect(keyText(Buffer.from('DE/München 50%,'))).toBe('DE/M%C3%BCnchen%2050%25%2C');
  expect(Buffer.from(keyOfText('münchen%2f')).toString()).toBe('münchen/');
  expect(() => keyOfText('50%')).toThrow('which is not a byte in hex');
});
