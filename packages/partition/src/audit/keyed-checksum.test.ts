// Tests the keyed checksum of copied files.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { isKeyedChecksum, KeyedChecksum } from './keyed-checksum.ts';

const random = seededRandom(17);
const file = Buffer.from(Array.from({ length: 10_007 }, () => random.below(256)));

function checksumOf(checksum: KeyedChecksum, bytes: Buffer): string {
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.below(5_000);
    checksum.take(bytes.subarray(at, at + length));
    at += length;
  }
  return checksum.text();
}

test('a checksum depends on the bytes and the key, not on how the bytes are split', () => {
  const text = checksumOf(KeyedChecksum.begin(), file);
  expect(isKeyedChecksum(text)).toBe(true);
  expect(checksumOf(KeyedChecksum.of(text), file)).toBe(text);
  expect(checksumOf(KeyedChecksum.begin(), file)).not.toBe(text);
});

test('a flipped bit, a missing or extra byte, and reordered pieces change the checksum', () => {
  const text = checksumOf(KeyedChecksum.begin(), file);
  const others = [file.subarray(1), file.subarray(0, -1), Buffer.concat([file, Buffer.alloc(1)])];
  others.push(
    Buffer.concat([file.subarray(4_096, 8_192), file.subarray(0, 4_096), file.subarray(8_192)]),
  );
  for (let flips = 0; flips < 200; flips += 1) {
    const flipped = Buffer.from(file);
    const at = random.below(file.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
    others.push(flipped);
  }
  for (const other of others) expect(checksumOf(KeyedChecksum.of(text), other)).not.toBe(text);
});
