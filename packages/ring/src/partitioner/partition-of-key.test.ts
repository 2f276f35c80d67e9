// Tests the partitioners at their edges. Swift's own answers are in swift-answers.test.ts.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { murmur3 } from './murmur3.ts';
import { partitionerOf } from './partition-of-key.ts';
import type { Md5ShiftPartitioner } from './partitioner.ts';

const md5 = (power: number, prefix = '', suffix = ''): Md5ShiftPartitioner => ({
  kind: 'md5-shift',
  power,
  prefix,
  suffix,
});

test('md5-shift is the top bits of MD5 of prefix, key and suffix, for keys of any length', () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  const key = fc.oneof(bytes, fc.uint8Array({ minLength: 1020, maxLength: 1030 }));
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 24 }),
      bytes,
      key,
      bytes,
      (...[power, prefix, text, suffix]) => {
        const hex = (part: Uint8Array): string => Buffer.from(part).toString('hex');
        const digest = createHash('md5').update(prefix).update(text).update(suffix).digest();
        const wanted = Math.floor(digest.readUInt32BE(0) / 2 ** (32 - power));
        expect(partitionerOf(md5(power, hex(prefix), hex(suffix)))(text)).toBe(wanted);
      },
    ),
  );
});

test('a bound partitioner keeps no state from the previous key', () => {
  const bound = partitionerOf(md5(20, 'aabb', 'cc'));
  const [long, short] = [Buffer.alloc(900, 1), Buffer.from('k')];
  const first = bound(short);
  bound(long);
  expect(bound(short)).toBe(first);
});

test('murmur3-mod works with any partition count', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.integer({ min: 1, max: 2 ** 24 }), (key, partitions) => {
      const partition = partitionerOf({ kind: 'murmur3-mod', partitions, seed: 7 })(key);
      expect(partition).toBe(murmur3(key, 7) % partitions);
    }),
  );
});

test('the partitions of worked examples never change', () => {
  const shards = { kind: 'murmur3-mod', partitions: 4096, seed: 0 } as const;
  expect(partitionerOf(shards)(Buffer.from('Hello, world!'))).toBe(0xc0363e43 % 4096);
  expect(partitionerOf(md5(16))(Buffer.from(''))).toBe(0xd41d);
  expect(partitionerOf(md5(8))(Buffer.from('a'))).toBe(0x0c);
  expect(partitionerOf(md5(24))(Buffer.from('message digest'))).toBe(0xf96b69);
});
