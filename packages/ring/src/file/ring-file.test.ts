// Tests the ring file: round trips, its head and id, and that a change of any byte is detected.
import { createHash } from 'node:crypto';
import { seededRandom } from '@ringwright/base/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resultOrCode } from '../../../../test/support/refusal.ts';
import { nonHolderOf, sampleRing } from '../../test/support/sample-ring.ts';
import { proposeMoves } from '../advance-ring.ts';
import { auditRing } from '../audit/audit-ring.ts';
import type { Ring } from '../ring.ts';
import { deviceOf } from '../slot-rows.ts';
import { decodeRing, encodeRing, readManifestHead } from './ring-file.ts';

const tiny = sampleRing({ power: 1, replicas: 1.5, devices: 3, holes: [1] });

/** Returns version 2 of a ring with two moves, so that every section of a ring has content. */
function busyRing(size: Parameters<typeof sampleRing>[0]): Ring {
  const ring = sampleRing(size);
  const moves = [...new Set([0, ring.partitions - 1])].map((partition) => ({
    partition,
    replica: 0,
    from: deviceOf(ring.table, 0, partition),
    to: nonHolderOf(ring, partition),
  }));
  return proposeMoves(ring, encodeRing(ring).id, { moves });
}

const refusal = (bytes: Uint8Array) => resultOrCode(() => decodeRing(bytes));

const refusals = ['RING_FILE_INVALID', 'RING_FORMAT_UNKNOWN', 'RING_TOO_LARGE'];

test('the file has the key of a device, and no member for a device without a key', () => {
  const key = `MCowBQYDK2VwAyEA${'B'.repeat(42)}A=`;
  const named = tiny.devices.map((device) => device && { ...device, key });
  expect(decodeRing(encodeRing({ ...tiny, devices: named }).bytes).ring.devices).toEqual(named);
  expect(Buffer.from(encodeRing(tiny).bytes).includes('"key"')).toBe(false);
});

describe('round trip', () => {
  const sizes = fc.record({
    power: fc.nat(9),
    replicas: fc.constantFrom(1, 1.25, 2, 2.5, 3),
    devices: fc.integer({ min: 6, max: 40 }),
    holes: fc.constantFrom([], [0], [1, 3]),
  });

  test('any ring, its builder section and unknown sections are read back, with the same id', () => {
    const bytes = fc.uint8Array({ maxLength: 50 });
    fc.assert(
      fc.property(sizes, bytes, fc.option(bytes), (size, extra, builder) => {
        const ring = busyRing(size);
        const extraSections = [{ name: 'x-notes', bytes: extra }];
        const extras = builder === null ? { extraSections } : { extraSections, builder };
        const file = encodeRing(ring, extras);
        const read = decodeRing(file.bytes);
        expect(read.ring).toEqual(ring);
        expect(read.id).toBe(file.id);
        expect(read.builder === null ? null : Buffer.from(read.builder)).toEqual(
          builder === null ? null : Buffer.from(builder),
        );
        expect(read.extraSections).toEqual([{ name: 'x-notes', bytes: Buffer.from(extra) }]);
        expect(encodeRing(read.ring, extras).bytes.equals(file.bytes), 'same bytes').toBe(true);
      }),
    );
  });

  test('a ring with four-byte device ids is read back', () => {
    const ring = sampleRing({ power: 4, replicas: 3, devices: 65_536 });
    const read = decodeRing(encodeRing(ring).bytes);
    expect(read.ring.table[0]).toBeInstanceOf(Uint32Array);
    expect(read.ring).toEqual(ring);
    expect(auditRing(read.ring)).toEqual([]);
  });

  test('unknown fields of a device are not written to the file', () => {
    const devices = tiny.devices.map((one) => one && { ...one, state: 'active' });
    expect(encodeRing({ ...tiny, devices }).id).toBe(encodeRing(tiny).id);
  });

  test('the table of a decoded ring does not change with the bytes it came from', () => {
    const { bytes } = encodeRing(tiny);
    const { ring } = decodeRing(bytes);
    bytes.fill(0);
    expect(ring.table).toEqual(tiny.table);
  });

  test('a file at an odd offset of a larger buffer is read', () => {
    const { bytes } = encodeRing(tiny);
    const larger = Buffer.alloc(bytes.length + 7);
    bytes.copy(larger, 3);
    expect(decodeRing(larger.subarray(3, 3 + bytes.length)).ring).toEqual(tiny);
  });
});

describe('the head', () => {
  test('the head is read from the first bytes alone', () => {
    const { bytes, id } = encodeRing(tiny);
    const head = readManifestHead(
      bytes.subarray(0, 20 + bytes.readUInt32BE(12) + bytes.readUInt32BE(16)),
    );
    expect(head).toMatchObject({ keyspace: 'cities', cluster: 'test', version: 1, parent: null });
    expect(head).toMatchObject({ id, fileBytes: bytes.length, partitions: 2 });
  });

  test('the id is the SHA-256 of the manifest', () => {
    const { bytes, id } = encodeRing(tiny);
    const start = 20 + bytes.readUInt32BE(12);
    const manifest = bytes.subarray(start, start + bytes.readUInt32BE(16));
    expect(createHash('sha256').update(manifest).digest('hex')).toBe(id);
  });

  test('signatures change the file, not the id', () => {
    const signature = { keyid: 'a'.repeat(64), sig: `${'A'.repeat(86)}==` };
    const signed = encodeRing(tiny, { signatures: [signature] });
    expect(signed.id).toBe(encodeRing(tiny).id);
    expect(decodeRing(signed.bytes).signatures).toEqual([signature]);
  });
});

describe('damage', () => {
  const file = encodeRing(busyRing({ power: 2, replicas: 2.5, devices: 6 }), {
    builder: Buffer.from('state'),
    extraSections: [{ name: 'x-empty', bytes: Buffer.alloc(0) }],
  }).bytes;

  test('a small file with one bit or all bits of any byte changed is refused', () => {
    for (let at = 0; at < file.length; at += 1) {
      for (const mask of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
        const damaged = Buffer.from(file);
        damaged[at] = (damaged[at] ?? 0) ^ mask;
        expect(refusals, `byte ${at} xor ${mask}`).toContain(refusal(damaged));
      }
    }
  });

  test('every shorter and some longer files are refused', () => {
    for (let length = 0; length < file.length; length += 1) {
      expect(refusal(file.subarray(0, length)), `${length} bytes`).toBe('RING_FILE_INVALID');
    }
    for (const more of [Buffer.of(0), Buffer.of(0x1a, 10), file]) {
      expect(refusal(Buffer.concat([file, more]))).toBe('RING_FILE_INVALID');
    }
  });

  test('a file with any byte removed or doubled is refused', () => {
    for (let at = 0; at < file.length; at += 1) {
      const [before, after] = [file.subarray(0, at), file.subarray(at + 1)];
      const here = file.subarray(at, at + 1);
      expect(refusals).toContain(refusal(Buffer.concat([before, after])));
      expect(refusals).toContain(refusal(Buffer.concat([before, here, here, after])));
    }
  });

  test.each([1, 2, 3])('a larger file with a random byte changed is refused (seed %i)', (seed) => {
    const large = encodeRing(busyRing({ power: 14, replicas: 3, devices: 100 })).bytes;
    const random = seededRandom(seed);
    for (let round = 0; round < 150; round += 1) {
      const damaged = Buffer.from(large);
      const at = random.below(large.length);
      damaged[at] = (damaged[at] ?? 0) ^ (1 + random.below(255));
      expect(refusals, `seed ${seed}, byte ${at}`).toContain(refusal(damaged));
    }
  });

  test('arbitrary bytes are refused with a typed error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(refusals).toContain(refusal(bytes));
        expect(refusals).toContain(refusal(Buffer.concat([file.subarray(0, 20), bytes])));
      }),
    );
  });

  test('an unknown format is refused with its number and those that are read', () => {
    const damaged = Buffer.from(file);
    damaged.writeUInt32BE(5, 8);
    expect(() => decodeRing(damaged)).toThrow(
      'has format 5, this program reads formats 1, 2, 3, 4',
    );
    expect(refusal(damaged)).toBe('RING_FORMAT_UNKNOWN');
  });
});
