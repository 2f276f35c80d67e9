import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { isSeal, Sealing } from './copy-seal.ts';

const random = seededRandom(17);
const file = Buffer.from(Array.from({ length: 10_007 }, () => random.below(256)));

function sealed(sealing: Sealing, bytes: Buffer): string {
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.below(5_000);
    sealing.take(bytes.subarray(at, at + length));
    at += length;
  }
  return sealing.seal();
}

test('bytes have one seal under a key, in whatever pieces they come', () => {
  const seal = sealed(Sealing.begin(), file);
  expect(isSeal(seal)).toBe(true);
  expect(sealed(Sealing.of(seal), file)).toBe(seal);
  expect(sealed(Sealing.begin(), file)).not.toBe(seal);
});

test('a flipped bit, a byte less or more, and pieces in another order have another', () => {
  const seal = sealed(Sealing.begin(), file);
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
  for (const other of others) expect(sealed(Sealing.of(seal), other)).not.toBe(seal);
});
