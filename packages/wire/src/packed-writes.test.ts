// Every write survives a round trip, and cut or changed bytes never become more than a write may
// be.
import { keyBytesMax, partitionCountMax } from '@ringwright/base/limits';
import { batchedWritesMax } from '@ringwright/base/limits-wire';
import { stampMsMax, stampTieMax } from '@ringwright/base/stamp';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BatchedWrite, packedWriteBytes, packWrites, unpackWrites } from './packed-writes.ts';
import { recordWrite } from './records.ts';

const ms = fc.integer({ min: 1, max: stampMsMax });
const tie = fc.integer({ min: 0, max: stampTieMax });
const write = fc.record(
  {
    partition: fc.nat(partitionCountMax - 1),
    key: fc.uint8Array({ minLength: 1, maxLength: 40 }),
    value: fc.option(fc.uint8Array({ maxLength: 200 })),
    ms,
    tie,
    expiresMs: ms,
    origin: fc.record({ ms, tie }),
    repair: fc.constant(true as const),
  },
  { requiredKeys: ['partition', 'key', 'value', 'ms', 'tie'] },
);

function plain(found: BatchedWrite): unknown {
  const { key, value } = found;
  return { ...found, key: [...key], value: value && [...value] };
}

test('writes are unpacked unchanged and in order', () => {
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 20 }), (writes) => {
      const bytes = packWrites(writes);
      expect(bytes.length).toBe(writes.reduce((sum, one) => sum + packedWriteBytes(one), 0));
      expect(unpackWrites(bytes)?.map(plain)).toEqual(writes.map(plain));
    }),
  );
});

test('changed or cut bytes are refused, or are writes that the schema accepts', () => {
  const damage = fc.record({
    at: fc.nat(),
    bits: fc.integer({ min: 0, max: 255 }),
    cut: fc.nat(30),
  });
  fc.assert(
    fc.property(
      fc.array(write, { minLength: 1, maxLength: 5 }),
      damage,
      (writes, { at, bits, cut }) => {
        const bytes = packWrites(writes);
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ bits;
        for (const one of unpackWrites(bytes.subarray(0, bytes.length - cut)) ?? []) {
          const whole = { keyspace: 'cities', ringVersion: 1, ...one };
          expect(recordWrite.request.safeParse(whole).success).toBe(true);
        }
      },
    ),
  );
});

test('no writes, too many writes and a key that is too long are refused', () => {
  const one: BatchedWrite = { partition: 0, key: Buffer.from('k'), value: null, ms: 1, tie: 0 };
  const many = Array.from({ length: batchedWritesMax }, () => one);
  expect(unpackWrites(new Uint8Array())).toBeNull();
  expect(unpackWrites(packWrites(many))).toHaveLength(batchedWritesMax);
  expect(unpackWrites(packWrites([...many, one]))).toBeNull();
  expect(unpackWrites(packWrites([{ ...one, key: Buffer.alloc(keyBytesMax + 1) }]))).toBeNull();
});
