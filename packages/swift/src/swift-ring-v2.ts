// Reads Swift's ring format 2: sections with digests, an index at the end. Inside gzip. Pure.
//   'R1NG' | u16 2 | sections: u64 length, bytes | index: u64 length, JSON
//   | u64 offset of the index in the payload | u64 offset of the index in the file
import { createHash } from 'node:crypto';
import { constants, inflateRawSync } from 'node:zlib';
import { deviceCountMax, replicaCountMax } from '@ringwright/base/limits';
import { rowsOfBytes } from '@ringwright/ring/file/row-bytes';
import { z } from 'zod';
import { devicesOfSwift } from './swift-device.ts';
import { swiftBroken, swiftInvalid, swiftMisshapen } from './swift-file-error.ts';
import { parseSwiftJson } from './swift-json.ts';
import { replicasOfTable, requirePartPower, type SwiftRing, tableAndShape } from './swift-ring.ts';

const SECTIONS_AT = 6;
const TAIL_BYTES = 16;
const LENGTH_BYTES = 8;

const offset = z.int().min(0);
const indexSchema = z.record(
  z.string().regex(/^[A-Za-z0-9/-]+$/),
  z.tuple([
    offset,
    offset,
    offset,
    offset,
    z.enum(['md5', 'sha1', 'sha256', 'sha512']),
    z.string(),
  ]),
);

const metadataSchema = z.object({
  dev_id_bytes: z.union([z.literal(2), z.literal(4)]),
  part_shift: z.int().min(0).max(32),
  replica_count: z.number().min(0).max(replicaCountMax),
  version: z.int().min(0).nullish(),
  next_part_power: z.int().min(0).max(32).nullish(),
});

/** Returns the ring of a file and its inflated payload. Checks every digest and offset. */
export function decodeRingV2(file: Uint8Array, payload: Buffer): SwiftRing {
  const sections = sectionsOf(file, payload);
  const section = (name: string): Buffer => {
    const found = sections.get(name);
    if (found === undefined) throw swiftBroken(`section ${name}`, 'is missing');
    return found;
  };
  const parsed = metadataSchema.safeParse(
    parseSwiftJson(section('swift/ring/metadata'), 'section swift/ring/metadata'),
    { reportInput: true },
  );
  if (!parsed.success) throw swiftMisshapen('section swift/ring/metadata', parsed.error);
  const { dev_id_bytes: idBytes, part_shift: shift, replica_count: replicas } = parsed.data;
  const listed = z
    .array(z.unknown())
    .max(deviceCountMax)
    .safeParse(parseSwiftJson(section('swift/ring/devices'), 'section swift/ring/devices'));
  if (!listed.success) throw swiftMisshapen('section swift/ring/devices', listed.error);
  const devices = devicesOfSwift(listed.data);
  const assignments = section('swift/ring/assignments');
  const partPower = 32 - shift;
  requirePartPower(partPower);
  // Equality is exact: both are slots divided by a power of two.
  const slots = Math.round(replicas * 2 ** partPower);
  if (assignments.length !== slots * idBytes) {
    throw swiftInvalid('bytes of the assignments', assignments.length, slots * idBytes);
  }
  const rows = rowsOfBytes(assignments, { idBytes, order: 'big' }, 2 ** partPower);
  const shaped = tableAndShape(rows, { partPower, devices });
  const placed = replicasOfTable(shaped.table, partPower);
  if (placed !== replicas) {
    throw swiftInvalid('replica_count', replicas, placed);
  }
  const { version = null, next_part_power: nextPartPower = null } = parsed.data;
  return { partPower, nextPartPower, version, devices, ...shaped };
}

/**
 * Returns contents by name. Sections must fill the payload up to the index without gap or overlap.
 */
function sectionsOf(file: Uint8Array, payload: Buffer): Map<string, Buffer> {
  const tailAt = payload.length - TAIL_BYTES;
  const least = SECTIONS_AT + LENGTH_BYTES + TAIL_BYTES;
  if (payload.length < least) throw swiftInvalid('length', payload.length, `${least} or more`);
  const indexAt = lengthAt(payload, tailAt);
  const fileIndexAt = lengthAt(payload, tailAt + LENGTH_BYTES);
  const index = blobAt(payload, indexAt, tailAt);
  checkPlace(file, { at: fileIndexAt, what: 'index', content: payload.subarray(indexAt, tailAt) });
  const parsed = indexSchema.safeParse(parseSwiftJson(index, 'index'));
  if (!parsed.success) throw swiftMisshapen('the index', parsed.error);
  const entries = Object.entries(parsed.data).sort(([, a], [, b]) => a[1] - b[1]);
  const sections = new Map<string, Buffer>();
  let expected = SECTIONS_AT;
  for (const [name, [fileAt, start, fileEnd, end, method, digest]] of entries) {
    if (start !== expected) throw swiftInvalid(`start of section ${name}`, start, expected);
    if (end > indexAt) throw swiftInvalid(`end of section ${name}`, end, `${indexAt} or less`);
    const content = blobAt(payload, start, end);
    const whole = payload.subarray(start, end);
    const found = createHash(method).update(whole).digest('hex');
    if (found !== digest) throw swiftInvalid(`${method} of section ${name}`, found, digest);
    checkPlace(file, { at: fileAt, end: fileEnd, what: `section ${name}`, content: whole });
    sections.set(name, content);
    expected = end;
  }
  if (expected !== indexAt) throw swiftInvalid('end of the sections', expected, indexAt);
  return sections;
}

/** Returns the content after its length, which must extend exactly to `end`. */
function blobAt(payload: Buffer, start: number, end: number): Buffer {
  if (start < SECTIONS_AT || start + LENGTH_BYTES > end) {
    throw swiftInvalid('a section', `at ${start} to ${end}`, 'its length and content');
  }
  const length = lengthAt(payload, start);
  const expected = end - start - LENGTH_BYTES;
  if (length !== expected) throw swiftInvalid('length of a section', length, expected);
  return payload.subarray(start + LENGTH_BYTES, end);
}

function lengthAt(payload: Buffer, at: number): number {
  const value = payload.readBigUInt64BE(at);
  if (value > BigInt(Number.MAX_SAFE_INTEGER))
    throw swiftInvalid('an offset', value, 'less than 2^53');
  return Number(value);
}

/** Swift reads a section at its offset in the file: the bytes there must inflate to the section. */
function checkPlace(
  file: Uint8Array,
  section: {
    readonly at: number;
    readonly end?: number;
    readonly what: string;
    readonly content: Buffer;
  },
): void {
  const { at, end = file.length, what, content } = section;
  let found: Buffer | null = null;
  try {
    found = inflateRawSync(file.subarray(at, end), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: Math.max(1, content.length + TAIL_BYTES),
    });
  } catch {
    // Reported below, with the place. The reason does not matter.
  }
  if (found?.subarray(0, content.length).equals(content) === true) return;
  throw swiftInvalid(
    `place of the ${what} in the file`,
    at,
    'where it inflates from (recompressed?)',
  );
}
