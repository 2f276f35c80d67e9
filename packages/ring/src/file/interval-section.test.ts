// Tests ring files of intervals, format 2: they are read back as written, and wrong ones are
// refused.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { sampleRing } from '../../test/support/sample-ring.ts';
import { auditRing } from '../audit/audit-ring.ts';
import { keyText } from '../partitioner/key-text.ts';
import type { Partitioner } from '../partitioner/partitioner.ts';
import type { Ring } from '../ring.ts';
import { decodeIntervals, encodeIntervals } from './interval-section.ts';
import { applyRingDelta, makeRingDelta } from './ring-delta.ts';
import { decodeRing, encodeRing, readManifestHead } from './ring-file.ts';
import { decodeManifest, encodeManifest } from './ring-manifest.ts';

const plain = sampleRing({ power: 2, replicas: 2, devices: 4 });
const ringOf = (partitioner: Partitioner): Ring => ({ ...plain, partitioner });

const hashes = { kind: 'hash-intervals', hash: 'jenkins', partitions: 4 } as const;
const ends = [0, 2 ** 30, 2 ** 31, 2 ** 32 - 1];
const starts = ['g', keyText(Buffer.of(0x67, 0)), keyText(Buffer.of(0xff))];
const keys = { kind: 'ranges', partitions: 4, starts } as const;

const shapes: [string, Partitioner, string][] = [
  ['equal', hashes, '75ff'],
  ['equal, of a part of the key', { ...hashes, hash: 'md5', hashKey: '{tag}' }, '79f1'],
  ['explicit', { ...hashes, ends }, 'bea5'],
  ['explicit, with ids', { ...hashes, ends, ids: [2, 0, 3, 1] }, '4e9a'],
  ['ranges', keys, 'fc1e'],
  ['ranges, with ids', { ...keys, ids: [3, 2, 1, 0] }, 'cade'],
];

test.each(shapes)('%s: the ring is read back, and its bytes stay', (_, partitioner, id) => {
  const ring = ringOf(partitioner);
  expect(auditRing(ring)).toEqual([]);
  const file = encodeRing(ring);
  expect(file.bytes.readUInt32BE(8)).toBe(2);
  expect(decodeRing(file.bytes).ring).toEqual(ring);
  expect(encodeRing(decodeRing(file.bytes).ring).bytes).toEqual(file.bytes);
  expect(readManifestHead(file.bytes)).toMatchObject({ partitions: 4, id: file.id });
  expect(file.id.slice(0, 4)).toBe(id);
});

test('a delta transfers a changed boundary', () => {
  const large = sampleRing({ power: 12, replicas: 2, devices: 4 });
  const many = Array.from({ length: 4_096 }, (_, index) => index * 1_000);
  const fileOf = (last: number): Buffer => {
    const listed = { ...hashes, partitions: 4_096, ends: [...many.slice(0, -1), last] };
    return encodeRing({ ...large, partitioner: listed }).bytes;
  };
  const delta = makeRingDelta(fileOf(2 ** 30), fileOf(2 ** 31));
  expect(applyRingDelta(fileOf(2 ** 30), delta ?? Buffer.alloc(0))).toEqual(fileOf(2 ** 31));
});

test('a file whose format number does not match its partitioner is refused', () => {
  for (const [partitioner, format] of [
    [hashes, 1],
    [plain.partitioner, 2],
  ] as const) {
    const { bytes } = encodeRing(ringOf(partitioner));
    bytes.writeUInt32BE(format, 8);
    expect(() => decodeRing(bytes)).toThrow(`format is ${format}, expected ${3 - format}`);
  }
});

const words = (...values: number[]): Buffer =>
  Buffer.concat(values.map((value) => Buffer.from(value.toString(16).padStart(8, '0'), 'hex')));
const key = (id: number, text: string): Buffer =>
  Buffer.concat([words(id), Buffer.of(0, text.length), Buffer.from(text)]);

test.each<[string, 'hash' | 'keys', Buffer, RegExp]>([
  ['an end too few', 'hash', words(0, 1), /intervals is 8 bytes, expected 16 bytes/],
  ['an end too many', 'hash', words(0, 1, 1, 2, 2, 3), /24 bytes/],
  ['no section at all', 'keys', Buffer.alloc(0), /cut short after 0 intervals, expected 2/],
  ['half a key', 'keys', Buffer.concat([key(0, ''), key(1, 'gg').subarray(0, 7)]), /after 1 int/],
  ['a key too many', 'keys', Buffer.concat([key(0, ''), key(1, 'g'), key(2, 'h')]), /20 bytes/],
  ['a first start', 'keys', Buffer.concat([key(0, 'a'), key(1, 'g')]), /start 0 is 1 bytes/],
  ['a start without bytes', 'keys', Buffer.concat([key(0, ''), key(1, '')]), /start 1 is 0 bytes/],
  ['a start too long', 'keys', Buffer.concat([key(0, ''), words(1), words(0x04010000)]), /1025/],
])('a wrong interval section is refused: %s', (...[, of, section, message]) => {
  const settings =
    of === 'hash'
      ? ({ ...hashes, partitions: 2, intervals: 2 } as const)
      : ({ kind: 'ranges', partitions: 2, intervals: 2 } as const);
  const decode = () => decodeIntervals(settings, () => section);
  expect(decode).toThrow(message);
  expect(decode).toThrow(CodedError);
});

test('unsound boundaries are decoded, and the audit finds them', () => {
  const unsound = ringOf({ ...hashes, ends: [5, 4, 6, 7] });
  const { ring } = decodeRing(encodeRing(unsound).bytes);
  expect(auditRing(ring)).toMatchObject([
    { code: 'RING_PARTITIONER_INVALID', message: expect.stringContaining('out of order') },
  ]);
  expect(auditRing(ringOf({ ...keys, partitions: 3 }))[0]?.message).toContain('4 intervals for 3');
});

test('a manifest with an unknown hash or an impossible count is refused', () => {
  const { bytes } = encodeRing(ringOf(hashes));
  const at = 20 + bytes.readUInt32BE(12);
  const manifest = decodeManifest(bytes.subarray(at, at + bytes.readUInt32BE(16)));
  for (const change of [{ hash: 'sha1' }, { intervals: 0 }, { hashKey: '' }, { partitions: 0 }]) {
    const forged = { ...manifest, partitioner: { ...manifest.partitioner, ...change } };
    expect(() => decodeManifest(encodeManifest(forged as never))).toThrow('invalid in partitioner');
  }
});

test('a ring without intervals has no such section and stays in format 1', () => {
  expect(encodeIntervals(plain.partitioner)).toBeNull();
  expect(encodeRing(plain).bytes.readUInt32BE(8)).toBe(1);
});
