// Tests that long values are refused while too many bytes of others are being written.
import { longValueBytesMin } from '@ringwright/base/limits-listeners';
import { expect, test } from 'vitest';
import { LongWrites } from './long-writes.ts';

const MIB = 2 ** 20;

test('a write beyond the limit is rejected, until another one has ended', () => {
  const writes = new LongWrites(3 * MIB);
  const value = new Uint8Array(MIB);
  const [first] = [writes.begin(value), writes.begin(value), writes.begin(value)];
  for (let attempt = 0; attempt < 2; attempt += 1) {
    expect(() => writes.begin(value)).toThrow(
      expect.objectContaining({
        code: 'STORE_BUSY',
        details: { bytes: 3 * MIB, max: 3 * MIB, outcome: 'rejected' },
      }),
    );
  }
  first?.();
  expect(writes.begin(value)).not.toBeNull();
  expect(() => writes.begin(value)).toThrow('3145728');
});

test('short values and deletions are not counted, and one long value always passes', () => {
  const writes = new LongWrites(10);
  expect(writes.begin(new Uint8Array(longValueBytesMin - 1))).toBeNull();
  expect(writes.begin(null)).toBeNull();
  const end = writes.begin(new Uint8Array(MIB));
  expect(() => writes.begin(new Uint8Array(MIB))).toThrow('being written');
  expect(writes.begin(new Uint8Array(longValueBytesMin - 1))).toBeNull();
  end?.();
  expect(writes.begin(new Uint8Array(MIB))).not.toBeNull();
});
