// Builder files of Swift: what Swift says of each, round trips, old shapes, damage.
import { createHash } from 'node:crypto';
import { bytesOfRows } from '@ringwright/ring/file/row-bytes';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resultOrCode } from '../../../test/support/refusal.ts';
import { swiftBuilders, swiftFile } from '../test/support/swift-ring.ts';
import { decodeSwiftBuilder } from './swift-builder-file.ts';
import { swiftFieldsOf } from './swift-device.ts';
import { decodeSwiftRing } from './swift-ring-file.ts';
import { type Picklable, writePickle } from './write-pickle.ts';
import { encodeSwiftBuilder } from './write-swift-builder.ts';

const fixtures = swiftBuilders();
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe.each(fixtures)('$fixture', (wanted) => {
  const file = swiftFile(`${wanted.fixture}.builder`);
  const builder = decodeSwiftBuilder(file);

  test('has the settings that Swift reads', () => {
    const { partPower, nextPartPower, replicas, minPartHours, overload, version, id } = wanted;
    const { removed, changed, epoch, gatherStart } = wanted;
    expect(builder).toMatchObject({ partPower, nextPartPower, replicas, minPartHours, overload });
    expect(builder).toMatchObject({ version, id, removed, changed });
    expect([builder.lastMovesEpoch, builder.lastGatherStart]).toEqual([epoch, gatherStart]);
    expect(sha256(builder.lastMoves)).toBe(wanted.lastMovesSha256);
  });

  test('has the devices and the table that Swift reads', () => {
    const devices = builder.devices.map((device) =>
      device === null ? null : Object.fromEntries(swiftFieldsOf(device)),
    );
    expect(devices).toEqual(wanted.devices);
    const rows = (builder.table ?? []).map((row) =>
      sha256(bytesOfRows([row], { idBytes: 2, order: 'little' })),
    );
    expect(rows).toEqual(wanted.rowSha256);
    const ring = decodeSwiftRing(swiftFile(`${wanted.fixture}.ring.gz`));
    expect(builder.table).toEqual(ring.table);
  });

  test('survives a round trip', () => {
    const written = encodeSwiftBuilder(builder);
    expect(decodeSwiftBuilder(written)).toEqual(builder);
    expect(encodeSwiftBuilder(decodeSwiftBuilder(written))).toEqual(written);
  });
});

const sample = decodeSwiftBuilder(swiftFile('f02_holes_v2.builder'));

test('a removed device is the same object as in the list', () => {
  const written = encodeSwiftBuilder({ ...sample, removed: [0] });
  expect(decodeSwiftBuilder(written).removed).toEqual([0]);
  // One dictionary per device: the removed device is referenced, not written again.
  const count = written.toString('latin1').split('parts_wanted').length - 1;
  expect(count).toBe(sample.devices.filter((device) => device !== null).length);
});

test('a builder that has never placed anything has no table', () => {
  const devices = sample.devices;
  const written = encodeSwiftBuilder({ ...sample, devices, table: null });
  expect(decodeSwiftBuilder(written).table).toBeNull();
});

const codeOf = (bytes: Uint8Array) => resultOrCode(() => decodeSwiftBuilder(bytes));

const base: [string, Picklable][] = [
  ['part_power', 1],
  ['parts', 2],
  ['replicas', 1],
  ['min_part_hours', 1],
  ['version', 1],
  ['devs', []],
  ['_replica2part2dev', null],
  ['_last_part_moves', [255, 0]],
  ['_remove_devs', []],
];

test('a file from before overload, id and dispersion is read', () => {
  const builder = decodeSwiftBuilder(writePickle(new Map(base)));
  expect(builder).toMatchObject({ overload: 0, id: null, nextPartPower: null, lastMovesEpoch: 0 });
  expect([...builder.lastMoves]).toEqual([255, 0]);
});

const wrong: [string, Picklable][] = [
  ['part_power', 25],
  ['part_power', 0.5],
  ['parts', 3],
  ['replicas', 0],
  ['replicas', 'three'],
  ['version', null],
  ['min_part_hours', -1],
  ['overload', Number.NaN],
  ['devs', [new Map([['id', 0]])]],
  ['devs', null],
  ['_replica2part2dev', [{ kind: 'array', items: Uint16Array.of(0, 0) }]],
  ['_replica2part2dev', [[0, 0]]],
  ['_replica2part2dev', [{ kind: 'array', items: Uint8Array.of(0, 0) }]],
  ['_last_part_moves', [255]],
  ['_last_part_moves', [256, 0]],
  ['_last_part_moves', { kind: 'array', items: Uint16Array.of(1, 2) }],
  ['_remove_devs', [new Map([['id', 0]])]],
  ['id', 7],
];

test.each(wrong)('a builder with a wrong %s is refused: %j', (name, value) => {
  expect(codeOf(writePickle(new Map([...base, [name, value]])))).toBe('SWIFT_FILE_INVALID');
});

test('a count that disagrees with the table is refused', () => {
  const text = encodeSwiftBuilder(sample).toString('latin1');
  const at = text.indexOf('partsK', text.indexOf('devs')) + 'partsK'.length;
  const bytes = Buffer.from(text, 'latin1');
  bytes[at] = (bytes[at] ?? 0) + 1;
  expect(() => decodeSwiftBuilder(bytes)).toThrow(/parts of device 0 is/);
});

test('one device that is repeated many times is refused before it is copied', () => {
  // A device of 3,600 values in 320 bytes, repeated 16,000 times in two bytes each.
  const name = (text: string): string => `U${String.fromCharCode(text.length)}${text}`;
  const parts = `${name('part_power')}K\x01${name('parts')}K\x02`;
  const lists = `${name('a')}](${'N'.repeat(60)}eq\x00${name('b')}](${'h\x00'.repeat(60)}eq\x01`;
  const devices = `${name('devs')}](${'h\x01'.repeat(16_000)}e`;
  const file = Buffer.from(`\x80\x02}(${parts}${lists}${devices}u.`, 'latin1');
  const before = process.memoryUsage().heapUsed;
  expect(codeOf(file)).toBe('SWIFT_FILE_INVALID');
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100e6);
});

test('every truncated file is refused', () => {
  const file = swiftFile('f01_smallest_v1.builder');
  for (let end = 0; end < file.length; end += 1) {
    expect(codeOf(file.subarray(0, end)), `cut to ${end}`).toBeTypeOf('string');
  }
});

test('a mutated file is read or refused, and never throws anything else', () => {
  const files = ['f01_smallest_v2', 'f02_holes_v4', 'f09_part_power_increase_v2'].map((name) =>
    swiftFile(`${name}.builder`),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...files),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 4,
      }),
      (file, edits) => {
        const bytes = Buffer.from(file);
        for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
        codeOf(bytes);
      },
    ),
    { seed: 4, numRuns: 4_000 },
  );
});
