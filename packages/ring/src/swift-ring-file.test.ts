// Ring files of Swift: every format read and written, published vectors, what damage is refused.
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

const folder = new URL('../test-data/swift/corrupt/', import.meta.url);
const legal = ['c00_good', 'c41_only_last_row_short', 'c43_two_gzip_members'];

/** 2^2 partitions, 1.5 replicas, devices 0 and 2, version 5, as Swift's own code writes it. */
const vectors = {
  1: '1f8b0808f42a844d02ff78312e72696e6700000600f9ff52314e470001000000ffffad8edd0ac22014c7ad2711af47a85117bd4ac470f3b4093687ba458d3d52ef98a7a25add4588f2ff381c7f84cc2e032b4e119cd7e0d986326b62b4c032ca34f42125db01952901dba015564627c351b4980abec023b03a405498a16e9d8f49af25c7590f95714df2e2665a6b4a1553927f2f796fa74b8e60aa1abde0693a0567d720991833da74d666748a5b3c71e527aefc07aefc0d578e3bfc50f99887daec7162c95f9bf2d2754d7c40f7e0c39d643512322778f1bd020464e766c3010000',
  2: '1f8b0808f42a844d02ff78322e72696e6700000600f9ff52314e470002000000ffff62600003cf6aa594d4b2f8cc94f8a4ca92d462252b05231d05a582c4a292f8e28cccb412a080b10150a428b520273339313e39bf340f2468a8670a142d4b2d2acecccf03f24d6b01000000ffff62600001c688e86aa594d4b2cce454252b05a5e29444251d05a5cc1420c700c42800891a1ae881a021482a37b5241124066217e4179500d966460620b545a9e999f97940be2198539093999c58021489c734045916d590f2d4ccf40c10dfd000a81a2850959f07729961ad8e425e694e8e8e02aa7393e0ce354277ae11359c6b449e738d6a6301000000ffff626000031e206602632009000000ffff5cd0b16e03310806e0f44d4e9e4f8ac180edbe4a9501db38bd2137f44ee950f5ddebebd04485e59790f810a7d3512feb97db3e97be9f3f96f57ad66d5baeebcdd67d73afd31b32cc13853c4f2871241ec96def8a2c6e241ca35e7de83a1a4182e48ee8a1c68c8d807c6f0aa45a9b404fa0522b8aa4d492474029ee72ac7be8cdee4bb55f1960c869988f139e6036f14a032dda19ba45c40cac669c211a61f204317aec052846f6b588f4d82a82a25aa5fff0cd766dbaeb21079a2799a7bf039e58e35abb95c696d90216f0895a6f0d221e4fc0a2861180217080acea93e040bda40605c9bbcbf70f000000ffff000800f7ff00000000000001cb000000ffff000800f7ff000000000000010b000000ffff010000ffff56b1e1a051030000',
} as const;

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
    const ring = decodeSwiftRing(Buffer.from(vectors[format], 'hex'));
    expect(ring).toMatchObject({ partPower: 2, version: 5, nextPartPower: null });
    expect(ring.table.map((row) => [...row])).toEqual([
      [0, 2, 0, 2],
      [2, 0],
    ]);
    expect(ring.devices.map((device) => device?.device ?? null)).toEqual(['sda', null, 'sdb']);
  });

  test('what is written is what Swift writes, but for the name in the gzip header', () => {
    const vector = Buffer.from(vectors[format], 'hex');
    const written = encodeSwiftRing(decodeSwiftRing(vector), format);
    const content = gunzipSync(written);
    expect(content.length).toBe(gunzipSync(vector).length);
    if (format === 1) expect(content).toEqual(gunzipSync(vector));
    // Swift seeks to 31 bytes before the end to find the index.
    if (format === 2) expect(written.toString('hex', written.length - 31)).toMatch(/^000800f7ff/);
  });

  test.each(swiftFixtures())('$fixture is read back as it was written', ({ fixture }) => {
    const ring = decodeSwiftRing(swiftFile(`${fixture}.ring.gz`));
    const bytes = encodeSwiftRing(ring, format);
    expect(decodeSwiftRing(bytes)).toEqual(ring);
    expect(encodeSwiftRing(decodeSwiftRing(bytes), format)).toEqual(bytes);
  });

  test('no changed byte of a file turns it into another ring', () => {
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

describe('damage', () => {
  const files = readdirSync(folder).map((file) => file.replace('.ring.gz', ''));

  test('all damaged files are here', () => expect(files).toHaveLength(24));

  test.each(files)('%s', (name) => {
    const code = codeOf(swiftFile(`corrupt/${name}.ring.gz`));
    expect(code).toBe(legal.includes(name) ? 'read' : 'SWIFT_FILE_INVALID');
  });

  test('the legal ones hold what they should', () => {
    const [good, short, members] = legal.map((name) =>
      decodeSwiftRing(swiftFile(`corrupt/${name}.ring.gz`)),
    );
    expect(members).toEqual(good);
    expect(short?.table.map((row) => row.length)).toEqual([64, 64, 10]);
  });

  test('an unknown format is named', () => {
    const content = gunzipSync(Buffer.from(vectors[1], 'hex'));
    content.writeUInt16BE(3, 4);
    expect(codeOf(gzipSync(content))).toBe('SWIFT_FORMAT_UNKNOWN');
  });

  test('a recompressed file of format 2 is refused: Swift could not read it', () => {
    const content = gunzipSync(Buffer.from(vectors[2], 'hex'));
    expect(codeOf(gzipSync(content))).toBe('SWIFT_FILE_INVALID');
  });

  test('a bomb stops at the cap', () => {
    const member = gzipSync(Buffer.alloc(2 ** 24), { level: 1 });
    const count = swiftPayloadBytesMax / 2 ** 24 + 1;
    const bomb = Buffer.concat(Array.from({ length: count }, () => member));
    expect(codeOf(bomb)).toBe('SWIFT_FILE_TOO_LARGE');
  });

  test('header fields out of their range', () => {
    const content = gunzipSync(Buffer.from(vectors[1], 'hex'));
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
  const base = decodeSwiftRing(Buffer.from(vectors[1], 'hex'));
  const weights = fc.oneof(
    fc.integer({ min: 0, max: 2 ** 32 }),
    fc.double({ min: 1e-9, max: 1e9 }),
  );
  const extra = fc.record({
    replication_ip: fc.ipV4(),
    tags: fc.array(fc.string(), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(
      weights,
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      extra,
      (weight, meta, more) => {
        const devices = base.devices.map((device) =>
          device === null ? null : { ...device, weight, meta, extra: { ...more, none: null } },
        );
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

test('mutated content never does more than be refused', () => {
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

test('a stored block of garbage after the header is no ring', () => {
  const raw = deflateRawSync(Buffer.from('R1NG\x00\x01'));
  const head = Buffer.from('1f8b080000000000000a', 'hex');
  expect(codeOf(Buffer.concat([head, raw, Buffer.alloc(8)]))).toBe('SWIFT_FILE_INVALID');
});
