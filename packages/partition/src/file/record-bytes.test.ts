// Tests that the hash of a record equals the hash of its encoded bytes, for values of any length.
import { expect, test } from 'vitest';
import { encodeRecord, hashRecord, hashRecordBytes, recordLength } from './record-bytes.ts';

test.each([0, 1, 16_383, 16_384, 65_536])('a %i-byte value hashes like its encoding', (length) => {
  const value = Buffer.alloc(length, length);
  for (const origin of [null, { ms: 7, tie: 8 }]) {
    for (const expiresMs of [0, 2 ** 40]) {
      const record = { key: Buffer.from('key'), value, ms: 5, tie: 6, expiresMs, origin };
      const bytes = Buffer.alloc(recordLength(record));
      expect(encodeRecord(record, bytes, 0)).toBe(bytes.length);
      expect(hashRecord(record)).toEqual(hashRecordBytes(bytes));
    }
  }
});
