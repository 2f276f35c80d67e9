// Tests the one-at-a-time hash against published answers and a slow reading of its definition.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jenkins } from './jenkins.ts';

test.each([
  ['', 0],
  ['a', 0xca2e9442],
  ['The quick brown fox jumps over the lazy dog', 0x519e91f5],
])('the hash of "%s" is the published one', (text, wanted) => {
  expect(jenkins(Buffer.from(text))).toBe(wanted);
});

test('the hash equals its definition in integers of any length, cut to 32 bits', () => {
  const cut = (value: bigint): bigint => BigInt.asUintN(32, value);
  const slow = (bytes: Uint8Array): number => {
    let hash = 0n;
    for (const byte of bytes) {
      hash = cut(hash + BigInt(byte));
      hash = cut(hash + (hash << 10n));
      hash ^= hash >> 6n;
    }
    hash = cut(hash + (hash << 3n));
    hash ^= hash >> 11n;
    return Number(cut(hash + (hash << 15n)));
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (key) => jenkins(key) === slow(key)));
});
