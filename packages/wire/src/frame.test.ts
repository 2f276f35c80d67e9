// Frames: every batch survives a round trip, and no bytes make the reader throw, hang or break.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Envelope,
  joinFrame,
  longBytesMin,
  longFrame,
  packEnvelope,
  unpackFrame,
} from './frame.ts';

const frameOf = (envelopes: readonly Envelope[]): Uint8Array =>
  joinFrame(envelopes.map(packEnvelope));

const body = fc.oneof(
  fc.record({
    key: fc.uint8Array({ maxLength: 40 }),
    ms: fc.nat(2 ** 48 - 1),
    tie: fc.maxSafeNat(),
  }),
  fc.array(fc.tuple(fc.uint8Array({ maxLength: 9 }), fc.nat(), fc.maxSafeNat()), { maxLength: 5 }),
  fc.constantFrom(null, true, '', 'größer', { details: { head: null } }),
);
const envelope: fc.Arbitrary<Envelope> = fc.oneof(
  fc.tuple(fc.constant(0 as const), fc.maxSafeNat(), fc.string(), body),
  fc.tuple(fc.constantFrom(1 as const, 2 as const), fc.maxSafeNat(), body),
);
const envelopes = fc.array(envelope, { maxLength: 20 });

/** Returns byte arrays of either kind as plain lists, so that they compare by content. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return ['bytes', ...value];
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

describe('round trip', () => {
  test('any batch is unchanged', () => {
    fc.assert(
      fc.property(envelopes, (batch) => {
        expect(plain(unpackFrame(frameOf(batch)))).toEqual(plain(batch));
      }),
    );
  });

  test('a record of the largest numbers keeps every bit', () => {
    const record = { ms: 2 ** 48 - 1, tie: 2 ** 40 - 1, seq: Number.MAX_SAFE_INTEGER };
    expect(unpackFrame(frameOf([[1, 1, record]]))).toEqual([[1, 1, record]]);
  });

  test('packing an envelope does not change one that was packed before', () => {
    const first = packEnvelope([1, 1, { data: Buffer.alloc(3_000, 7) }]);
    const copy = Buffer.from(first);
    for (let id = 2; id < 200; id += 1) packEnvelope([1, id, { data: Buffer.alloc(3_000, id) }]);
    expect(copy.equals(first)).toBe(true);
  });
});

describe('invalid bytes', () => {
  const stillWorks = (): void => {
    expect(unpackFrame(frameOf([[1, 7, 'yes']]))).toEqual([[1, 7, 'yes']]);
  };

  test('random bytes are refused or read, and the next frame is still read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        unpackFrame(bytes);
        stillWorks();
      }),
      { numRuns: 2_000 },
    );
  });

  test('a frame that is cut or changed at any byte never throws', () => {
    fc.assert(
      fc.property(envelopes, fc.nat(), fc.nat(255), (batch, where, byte) => {
        const bytes = Buffer.from(frameOf(batch));
        const at = where % bytes.length;
        expect(unpackFrame(bytes.subarray(0, at)), `cut at ${at}`).toBeNull();
        bytes.writeUInt8(byte, at);
        unpackFrame(bytes);
        stillWorks();
      }),
      { numRuns: 1_000 },
    );
  });

  const bombs: readonly (readonly [string, readonly number[]])[] = [
    ['an array of 2^32 - 1', [0xdd, 255, 255, 255, 255]],
    ['a map of 2^32 - 1', [0xdf, 255, 255, 255, 255]],
    ['bytes of 4 GiB', [0xc6, 255, 255, 255, 255]],
    ['text of 4 GiB', [0xdb, 255, 255, 255, 255, 65]],
    ['arrays of 2^28 inside each other', Array(50).fill([0xdd, 15, 255, 255, 255]).flat()],
    ['200,000 arrays inside each other', Array(200_000).fill(0x91)],
    ['a record definition', [0x91, 0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 1]],
    ['a pattern', [0x91, 0xc7, 3, 0x78, 0x92, 0xa1, 0x28, 0xa0]],
    ['nothing', []],
  ];
  test.each(bombs)('these bytes are refused: %s', (_name, bytes) => {
    expect(unpackFrame(Uint8Array.from(bytes))).toBeNull();
    stillWorks();
  });

  const shapes: readonly (readonly [string, unknown])[] = [
    ['no array', { 0: 0 }],
    ['an envelope that is none', [1, 2, 3]],
    ['an unknown kind', [[3, 1, null]]],
    ['an id that is no whole number', [[1, 1.5, null]]],
    ['an id beyond 2^53', [[1, 2 ** 60, null]]],
    ['a method that is no text', [[0, 1, 7, null]]],
    ['a call without a body', [[0, 1, 'read']]],
    ['an answer with more', [[1, 1, null, null]]],
    ['one bad among good ones', [[1, 1, null], [9]]],
  ];
  test.each(shapes)('this shape is refused: %s', (_name, shape) => {
    // Packs anything: the type describes only what this side sends.
    expect(unpackFrame(packEnvelope(shape as Envelope))).toBeNull();
  });

  test('a key named __proto__ changes no prototype', () => {
    const text = JSON.parse('{"__proto__": {"admin": true}}') as unknown;
    const [read] = unpackFrame(frameOf([[1, 1, text]])) ?? [];
    expect(Object.getPrototypeOf(read?.[2])).toBe(Object.prototype);
    expect(read?.[2]).not.toHaveProperty('admin');
  });
});

describe('an envelope with long bytes', () => {
  test.each([longBytesMin, longBytesMin + 1, 256 * 1024])('of %i bytes is a frame', (length) => {
    const long = Buffer.alloc(length, length);
    const record = { value: long, ms: 1, tie: 2, origin: { ms: 3, tie: 4 } };
    const bodies = [
      { data: long },
      { data: long, more: true, seq: 2 ** 40 },
      { record, version: 7 },
    ];
    for (const body of [...bodies, record, { key: Buffer.from('k'), ...record }]) {
      for (const id of [1, 200, 2 ** 40]) {
        const shapes: Envelope[] = [
          [1, id, body],
          [0, id, 'write', body],
        ];
        for (const shape of shapes) {
          const { frame } = longFrame(shape) ?? { frame: Buffer.alloc(0) };
          expect(unpackFrame(frame)).toEqual([shape]);
          expect(frame.buffer.byteLength, 'a buffer of its own').toBe(frame.length);
        }
      }
    }
  });

  test('other envelopes are packed as usual', () => {
    const short = { data: Buffer.alloc(longBytesMin - 1) };
    const rows = { rows: [{ value: Buffer.alloc(longBytesMin) }] };
    for (const body of [null, 7, 'x', {}, { data: 'x'.repeat(longBytesMin) }, [], short, rows]) {
      expect(longFrame([1, 1, body])).toBeNull();
    }
  });
});
