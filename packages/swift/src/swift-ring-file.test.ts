// Ring files of Swift: every format read and written, published vectors, and refused damage.
import { readdirSync } from 'node:fs';
import { deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import { CodedError } from '@ringwright/base/coded-error';
import { swiftPayloadBytesMax } from '@ringwright/base/limits';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { swiftFile, swiftFixtures } from '../test/support/swift-ring.ts';
import { readSwiftFile } from './swift-file.ts';
import type { SwiftRing } from './swift-ring.ts';
import { decodeSwiftRing, encodeSwiftRing } from './swift-ring-file.ts';

const folder = new URL('../test-data/corrupt/', import.meta.url);
const legal = ['c00_good', 'c41_only_last_row_short', 'c43_two_gzip_members'];

/** 2^2 partitions, 1.5 replicas, devices 0 and 2, version 5, as Swift's own code writes it. */
const vectors = { 1: swiftFile('vector_1.ring.gz'), 2: swiftFile('vector_2.ring.gz') } as const;

function codeOf(bytes: Uint8Array): string {
  try {
    readSwiftFile(bytes);
    return 'read';
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    expect(error.message.length).toBeGreaterThan(20);
    return error.code;
  }
}

describe.each([1, 2] as const)('format %i', (format) => {
  test('the published vector is read', () => {
    const ring = decodeSwiftRing(vectors[format]);
    expect(ring).toMatchObject({ partPower: 2, version: 5, nextPartPower: null });
    expect(ring.table.map((row) => [...row])).toEqual([
      [0, 2, 0, 2],
      [2, 0],
    ]);
    expect(ring.devices.map((device) => device?.device ?? null)).toEqual(['sda', null, 'sdb']);
  });

  test('a written file is what Swift writes, except for the name in the gzip header', () => {
    const vector = vectors[format];
    const written = encodeSwiftRing(decodeSwiftRing(vector), format);
    const content = gunzipSync(written);
    expect(content.length).toBe(gunzipSync(vector).length);
    if (format === 1) expect(content).toEqual(gunzipSync(vector));
    // Swift seeks to 31 bytes before the end to find the index.
    if (format === 2) expect(written.toString('hex', written.length - 31)).toMatch(/^000800f7ff/);
  });

  test.each(swiftFixtures())('$fixture survives a round trip', ({ fixture }) => {
    const ring = decodeSwiftRing(swiftFile(`${fixture}.ring.gz`));
    const bytes = encodeSwiftRing(ring, format);
    expect(decodeSwiftRing(bytes)).toEqual(ring);
    expect(encodeSwiftRing(decodeSwiftRing(bytes), format)).toEqual(bytes);
  });

  test('no changed byte turns a file into another ring', () => {
    const good = encodeSwiftRing(decodeSwiftRing(swiftFile('f02_holes_v2.ring.gz')), format);
    const ring = decodeSwiftRing(good);
    for (let at = 0; at < good.length; at += 1) {
      const bytes = Buffer.from(good);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      if (codeOf(bytes) === 'read') expect(decodeSwiftRing(bytes), `byte ${at}`).toEqual(ring);
    }
    for (let end = 0; end < good.length; end += 1) {
      expect(codeOf(good.subarray(0, end)), `cut to ${end}`).not.toBe('read');
    }
  });
});

test.each([1, 2])('an object of the oldest Swift is read, pickled with protocol %i', (protocol) => {
  const ring = decodeSwiftRing(swiftFile(`v0_object_${protocol}.ring.gz`));
  expect(ring).toMatchObject({ partPower: 1, version: null, nextPartPower: null });
  expect(ring.table.map((row) => [...row])).toEqual([
    [0, 2],
    [2, 0],
  ]);
  // These devices had no region and perhaps no meta.
  expect(ring.devices).toMatchObject([{ region: 1, meta: '' }, null, { region: 1, meta: 'old' }]);
});

describe('damage', () => {
  const files = readdirSync(folder).map((file) => file.replace('.ring.gz', ''));

  test('all damaged files are present', () => expect(files).toHaveLength(24));

  test.each(files)('%s is read if it is legal, else refused', (name) => {
    const code = codeOf(swiftFile(`corrupt/${name}.ring.gz`));
    expect(code).toBe(legal.includes(name) ? 'read' : 'SWIFT_FILE_INVALID');
  });

  test.each([
    ['c05_empty_file', 'the file is empty, expected a gzipped ring or a builder'],
    [
      'c07_uncompressed',
      'the file is neither a gzipped ring nor a builder: it begins with 52314e47',
    ],
    ['c01b_gzip_cut_in_rows_even', 'the gzip stream is damaged: unexpected end of file'],
    ['c11_header_len_huge', 'length of the header is 4294967295, expected 1490 or less'],
    ['c13_header_len_minus_10', 'the header is not JSON: Unterminated string'],
    ['c15_header_is_list', 'the header is wrong: [1,2,3]: expected an object'],
    ['c16_no_part_shift', 'the header is wrong: part_shift is missing'],
    ['c29_part_shift_33', 'the header is wrong: part_shift 33: expected at most 32'],
    ['c37_dev_without_zone', 'device 2: zone is missing'],
  ])('%s: %s', (name, message) => {
    const read = () => readSwiftFile(swiftFile(`corrupt/${name}.ring.gz`));
    expect(read).toThrow(expect.objectContaining({ message: expect.stringContaining(message) }));
  });

  test('the legal files contain what they should', () => {
    const [good, short, members] = legal.map((name) =>
      decodeSwiftRing(swiftFile(`corrupt/${name}.ring.gz`)),
    );
    expect(members).toEqual(good);
    expect(short?.table.map((row) => row.length)).toEqual([64, 64, 10]);
  });

  test('an unknown format is named', () => {
    const content = gunzipSync(vectors[1]);
    content.writeUInt16BE(3, 4);
    expect(codeOf(gzipSync(content))).toBe('SWIFT_FORMAT_UNKNOWN');
  });

  test('a recompressed file of format 2 is refused, because Swift could not read it', () => {
    const content = gunzipSync(vectors[2]);
    expect(codeOf(gzipSync(content))).toBe('SWIFT_FILE_INVALID');
  });

  test('a bomb stops at the limit', () => {
    const member = gzipSync(Buffer.alloc(2 ** 24), { level: 1 });
    const count = swiftPayloadBytesMax / 2 ** 24 + 1;
    const bomb = Buffer.concat(Array.from({ length: count }, () => member));
    expect(codeOf(bomb)).toBe('SWIFT_FILE_TOO_LARGE');
  });

  test('header fields out of their range are refused', () => {
    const content = gunzipSync(vectors[1]);
    const header = JSON.parse(content.toString('utf8', 10, 10 + content.readUInt32BE(6)));
    const rows = content.subarray(10 + content.readUInt32BE(6));
    const withHeader = (changes: object): Buffer => {
      const text = Buffer.from(JSON.stringify({ ...header, ...changes }));
      const head = Buffer.from(content.subarray(0, 10));
      head.writeUInt32BE(text.length, 6);
      return gzipSync(Buffer.concat([head, text, rows]));
    };
    expect(codeOf(withHeader({}))).toBe('read');
    const deep = JSON.parse('['.repeat(1000) + ']'.repeat(1000));
    for (const changes of [
      { part_shift: 7 },
      { part_shift: -8 },
      { part_shift: 30.5 },
      { replica_count: 2.5 },
      { replica_count: 33 },
      { replica_count: 2 ** 31 },
      { byteorder: 'middle' },
      { version: 'x' },
      { devs: [] },
      { devs: [{ ...header.devs[0], weight: '1' }, null, header.devs[2]] },
      { devs: [{ ...header.devs[0], port: 70_000 }, null, header.devs[2]] },
      { devs: [{ ...header.devs[0], big: 2 ** 60 }, null, header.devs[2]] },
      { devs: [{ ...header.devs[0], deep }, null, header.devs[2]] },
      { devs: Array.from({ length: 100_001 }, () => null) },
    ]) {
      expect(codeOf(withHeader(changes)), JSON.stringify(changes).slice(0, 60)).toBe(
        'SWIFT_FILE_INVALID',
      );
    }
  });
});

test('extra fields, floats and text of any script survive both formats', () => {
  const base = decodeSwiftRing(vectors[1]);
  const weights = fc.oneof(
    fc.integer({ min: 0, max: 2 ** 32 }),
    fc.double({ min: 1e-9, max: 1e9 }),
  );
  const extra = fc.record({
    replication_port: fc.constantFrom('6300', null, 0),
    tags: fc.array(fc.string(), { maxLength: 3 }),
  });
  const replication = { ip: '10.1.0.9', port: 6300 };
  fc.assert(
    fc.property(
      weights,
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      extra,
      (weight, meta, more) => {
        const { replication_port: _, ...plain } = more;
        // A replication address, or fields that are not one, which are kept unchanged.
        const devices = base.devices.map((device) => {
          if (device === null) return null;
          const named = { ...device, weight, meta };
          return device.id === 0
            ? { ...named, replication, extra: { ...plain, none: null } }
            : { ...named, extra: { ...more, replication_ip: '10.1.0.9', none: null } };
        });
        const ring: SwiftRing = { ...base, devices, nextPartPower: 3 };
        for (const format of [1, 2] as const) {
          const back = decodeSwiftRing(encodeSwiftRing(ring, format));
          expect(back).toEqual(ring);
        }
      },
    ),
    { seed: 4, numRuns: 100 },
  );
});

test('mutated content is read or refused, and never throws anything else', () => {
  const contents = ['f02_holes_v2', 'f06_fractional_v2', 'g04_pickled'].map((name) =>
    gunzipSync(swiftFile(`${name}.ring.gz`)),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...contents),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.nat(),
      (content, edits, cut) => {
        const bytes = Buffer.from(
          cut % 4 === 0 ? content.subarray(0, cut % content.length) : content,
        );
        for (const [at, byte] of edits) if (bytes.length > 0) bytes[at % bytes.length] = byte;
        codeOf(gzipSync(bytes, { level: 1 }));
      },
    ),
    { seed: 4, numRuns: 1_500 },
  );
});

test('a stored block of garbage after the header is refused', () => {
  const raw = deflateRawSync(Buffer.from('R1NG\x00\x01'));
  const head = Buffer.from('1f8b080000000000000a', 'hex');
  expect(codeOf(Buffer.concat([head, raw, Buffer.alloc(8)]))).toBe('SWIFT_FILE_INVALID');
});
