// Tests MurmurHash3 x86 32 against published answers: SMHasher's verification value and known
// vectors.
import { expect, test } from 'vitest';
import { murmur3 } from './murmur3.ts';

test('the hash has the verification value of SMHasher', () => {
  const hashes = Buffer.alloc(256 * 4);
  for (let length = 0; length < 256; length += 1) {
    const key = Uint8Array.from({ length }, (_, index) => index);
    hashes.writeUInt32LE(murmur3(key, 256 - length), length * 4);
  }
  expect(murmur3(hashes, 0)).toBe(0xb0f57ee3);
});

test.each([
  ['', 0, 0x00000000],
  ['', 1, 0x514e28b7],
  ['', 0xffffffff, 0x81f16f39],
  ['ffffffff', 0, 0x76293b50],
  ['21436587', 0, 0xf55b516b],
  ['21436587', 0x5082edee, 0x2362f9de],
  ['214365', 0, 0x7e4a8634],
  ['2143', 0, 0xa0f7b07a],
  ['21', 0, 0x72661cf4],
  ['00000000', 0, 0x2362f9de],
  ['000000', 0, 0x85f0b427],
  ['0000', 0, 0x30f4c306],
  ['00', 0, 0x514e28b7],
])('the hash of bytes %s with seed %i is the published one', (hex, seed, wanted) => {
  expect(murmur3(Buffer.from(hex, 'hex'), seed)).toBe(wanted);
});

test.each([
  ['aaaa', 0x9747b28c, 0x5a97808a],
  ['aaa', 0x9747b28c, 0x283e0130],
  ['aa', 0x9747b28c, 0x5d211726],
  ['a', 0x9747b28c, 0x7fa09ea6],
  ['Hello, world!', 0x9747b28c, 0x24884cba],
  ['The quick brown fox jumps over the lazy dog', 0x9747b28c, 0x2fa826cd],
  ['ππππππππ', 0x9747b28c, 0xd58063c1],
])('the hash of text %s with seed %i is the published one', (text, seed, wanted) => {
  expect(murmur3(Buffer.from(text), seed)).toBe(wanted);
});
