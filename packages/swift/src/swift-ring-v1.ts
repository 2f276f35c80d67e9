// Swift's ring format 1: a JSON header, then rows of two-byte ids. Inside gzip. Pure.
//   0 'R1NG' | 4 u16 1 | 6 u32 length of the header, big-endian | 10 header | rows
import { deviceCountMax, replicaCountMax } from '@ringwright/base/limits';
import { bytesOfRows, rowsOfBytes } from '@ringwright/ring/file/row-bytes';
import { z } from 'zod';
import { asciiObject } from './ascii-json.ts';
import { devicesJson, devicesOfSwift } from './swift-device.ts';
import { swiftInvalid, swiftMisshapen } from './swift-file-error.ts';
import { parseSwiftJson } from './swift-json.ts';
import { requirePartPower, type SwiftRing, tableAndShape } from './swift-ring.ts';

const HEADER_AT = 10;

/** Files from before 2.12 do not state their byte order; machines were little-endian then. */
const headerSchema = z.object({
  byteorder: z.enum(['little', 'big']).default('little'),
  devs: z.array(z.unknown()).max(deviceCountMax),
  part_shift: z.int().min(0).max(32),
  replica_count: z.int().min(1).max(replicaCountMax),
  version: z.int().min(0).nullish(),
  next_part_power: z.int().min(0).max(32).nullish(),
});

/** Returns the ring of an inflated file that begins with the magic. Throws SWIFT_FILE_INVALID. */
export function decodeRingV1(payload: Buffer): SwiftRing {
  if (payload.length < HEADER_AT)
    throw swiftInvalid('length', payload.length, `${HEADER_AT} or more`);
  const rowsAt = HEADER_AT + payload.readUInt32BE(6);
  if (rowsAt > payload.length) {
    const most = payload.length - HEADER_AT;
    throw swiftInvalid('length of the header', rowsAt - HEADER_AT, `${most} or less`);
  }
  const header = parseSwiftJson(payload.subarray(HEADER_AT, rowsAt), 'header');
  const parsed = headerSchema.safeParse(header, { reportInput: true });
  if (!parsed.success) throw swiftMisshapen('the header', parsed.error);
  const { byteorder: order, devs, part_shift: shift, replica_count: rowCount } = parsed.data;
  const partPower = 32 - shift;
  requirePartPower(partPower);
  const partitions = 2 ** partPower;
  const rows = payload.subarray(rowsAt);
  const least = Math.max(2, (rowCount - 1) * partitions * 2);
  const most = rowCount * partitions * 2;
  if (rows.length < least || rows.length > most || rows.length % 2 === 1) {
    const even = `an even number from ${least} to ${most}`;
    const expected = `${even} for ${rowCount} rows of ${partitions} partitions`;
    throw swiftInvalid('number of bytes after the header', rows.length, expected);
  }
  const devices = devicesOfSwift(devs);
  const table = rowsOfBytes(rows, { idBytes: 2, order }, partitions);
  return {
    partPower,
    nextPartPower: parsed.data.next_part_power ?? null,
    version: parsed.data.version ?? null,
    devices,
    ...tableAndShape(table, { partPower, devices }),
    emptyRow: table.length < rowCount,
  };
}

/** Returns the content of the gzip file. The caller has checked that ids fit two bytes. */
export function encodeRingV1(ring: SwiftRing): Buffer {
  const optional = (name: string, value: number | null): [string, string][] =>
    value === null ? [] : [[name, String(value)]];
  const header = Buffer.from(
    asciiObject([
      ['byteorder', '"little"'],
      ['devs', devicesJson(ring.devices)],
      ...optional('next_part_power', ring.nextPartPower),
      ['part_shift', String(32 - ring.partPower)],
      ['replica_count', String(ring.table.length + (ring.emptyRow ? 1 : 0))],
      ...optional('version', ring.version),
    ]),
  );
  const prefix = Buffer.from('R1NG\x00\x01\x00\x00\x00\x00', 'latin1');
  prefix.writeUInt32BE(header.length, 6);
  const rows = bytesOfRows(ring.table, { idBytes: 2, order: 'little' });
  return Buffer.concat([prefix, header, rows]);
}
