// What is refused before it is decoded: extension types, bombs, and frames beyond their limits.
import {
  frameCallsMax,
  frameDepthMax,
  frameMapFieldsMax,
  frameNameBytesMax,
  frameValuesMax,
} from '@ringwright/base/limits-wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { extensionValues, sharedReferences } from '../../../test/support/hostile-messagepack.ts';
import { type Envelope, joinFrame, packEnvelope, unpackFrame } from './frame.ts';
import { hasFrameStructure } from './frame-structure.ts';

const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([0xd9, value.length]), Buffer.from(value)]);
/** Returns a frame of one answer whose body is these bytes. */
const answerOf = (...body: readonly Uint8Array[]): Buffer =>
  Buffer.concat([Buffer.from([0x91, 0x93, 1, 1]), ...body]);
const field = (name: Uint8Array, value: Uint8Array): Buffer =>
  answerOf(Buffer.from([0x81]), name, value);
const one = Buffer.from([1]);

describe('refused before decoding', () => {
  test.each(extensionValues)('%s, as a value and as the name of a field', (_name, bytes) => {
    expect(unpackFrame(answerOf(bytes))).toBeNull();
    expect(unpackFrame(field(text('value'), bytes))).toBeNull();
    expect(unpackFrame(field(bytes, one))).toBeNull();
  });

  // 8.8 kB of these and one surplus byte: the decoder wrote the whole value into its error.
  test('shared references with a surplus byte', () => {
    expect(unpackFrame(answerOf(sharedReferences(1_000), one))).toBeNull();
  });

  test('a field name that is not text', () => {
    for (const name of [[1], [0xc0], [0xc4, 1, 65], [0x90], [0xcb, 0, 0, 0, 0, 0, 0, 0, 0]]) {
      expect(unpackFrame(field(Buffer.from(name), one)), `name ${name.join()}`).toBeNull();
    }
    expect(unpackFrame(field(text('name'), one))).toEqual([[1, 1, { name: 1 }]]);
  });
});

describe('limits', () => {
  const nested = (depth: number): Buffer => answerOf(Buffer.alloc(depth, 0x91), one);
  const fields = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]));
  const answers = (count: number): Uint8Array =>
    joinFrame(Array.from({ length: count }, (_, id) => packEnvelope([1, id, null])));
  const list = (count: number): Uint8Array =>
    joinFrame([packEnvelope([1, 1, Array(count).fill(0)])]);

  test.each([
    // The frame and its answer are two arrays themselves, and an answer has three values.
    ['arrays inside each other', nested, frameDepthMax - 2],
    ['values', list, frameValuesMax - 4],
    ['answers', answers, frameCallsMax],
    [
      'fields',
      (count: number) => joinFrame([packEnvelope([1, 1, fields(count)])]),
      frameMapFieldsMax,
    ],
    [
      'letters of a name',
      (count: number) => field(text('x'.repeat(count)), one),
      frameNameBytesMax,
    ],
  ])('a frame at its limit of %s is read, and one beyond it is refused', (_name, frameOf, most) => {
    expect(unpackFrame(frameOf(most))).not.toBeNull();
    expect(unpackFrame(frameOf(most + 1))).toBeNull();
  });
});

describe('properties', () => {
  /** First bytes of every kind, so that random bytes get past the first value. */
  const byte = fc.oneof(
    fc.constantFrom(0x81, 0x91, 0x92, 0xa1, 0xc4, 0xd9, 0xdc, 0xde, 0xcb, 0xc0, 0xc2),
    fc.nat(255),
  );

  test('what passes is decoded to plain values', () => {
    let passed = 0;
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 40 }), (bytes) => {
        const frame = answerOf(Buffer.from(bytes));
        if (!hasFrameStructure(frame)) return;
        passed += 1;
        const read = unpackFrame(frame);
        if (read !== null) expect(isPlain(read)).toBe(true);
      }),
      { numRuns: 20_000, seed: 20_261_121 },
    );
    expect(passed, 'enough frames are decoded').toBeGreaterThan(500);
  });

  test('a frame that is cut anywhere, or has surplus bytes, has no structure', () => {
    const shape = [1, 1, { name: ['text', 2 ** 40, Buffer.alloc(300), -1, -70_000, 70_000] }];
    const frame = joinFrame([packEnvelope(shape as unknown as Envelope)]);
    for (let end = 0; end < frame.length; end += 1) {
      expect(hasFrameStructure(frame.subarray(0, end)), `cut at ${end}`).toBe(false);
    }
    expect(hasFrameStructure(frame)).toBe(true);
    expect(hasFrameStructure(Buffer.concat([frame, one]))).toBe(false);
  });
});

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  if (value instanceof Uint8Array) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    [Object.prototype, Array.prototype].includes(prototype as object) &&
    Object.values(value).every(isPlain)
  );
}
