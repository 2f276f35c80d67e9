// Swift's ring files, formats 0, 1 and 2: strictly read, and written so that Swift loads them.
// Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { swiftPayloadBytesMax } from '@ringwright/base/limits';
import { deviceIdBytes } from '@ringwright/ring/slot-rows';
import { devices, fieldsOf, optionalWhole, rows, whole } from './pickled-fields.ts';
import { readPickle } from './read-pickle.ts';
import { swiftInvalid, swiftTooLarge } from './swift-file-error.ts';
import { deflatePiece, gzipHead, gzipTail, inflateRing, isGzip } from './swift-gzip.ts';
import { requirePartPower, type SwiftRing, tableAndShape } from './swift-ring.ts';
import { decodeRingV1, encodeRingV1 } from './swift-ring-v1.ts';
import { decodeRingV2 } from './swift-ring-v2.ts';
import { encodeRingV2 } from './write-swift-ring-v2.ts';

const MAGIC = 'R1NG';

type SwiftRingFormat = 1 | 2;

/**
 * Returns the ring of a file, and recognizes the format by its bytes. Refuses damaged files that
 * Swift itself would load. Throws SWIFT_FILE_INVALID, SWIFT_FORMAT_UNKNOWN, SWIFT_FILE_TOO_LARGE,
 * PICKLE_REFUSED.
 */
export function decodeSwiftRing(file: Uint8Array): SwiftRing {
  if (file.length > swiftPayloadBytesMax) {
    throw swiftTooLarge('bytes of the file', file.length, swiftPayloadBytesMax);
  }
  if (!isGzip(file)) throw swiftInvalid('start', shown(file), 'that of a gzip file');
  const payload = inflateRing(file);
  if (payload.toString('latin1', 0, MAGIC.length) !== MAGIC) return decodeRingV0(payload);
  if (payload.length < 6) throw swiftInvalid('length', payload.length, '6 or more');
  const format = payload.readUInt16BE(4);
  if (format === 1) return decodeRingV1(payload);
  if (format === 2) return decodeRingV2(file, payload);
  throw new CodedError(
    'SWIFT_FORMAT_UNKNOWN',
    `Swift ring of format ${format}, supported are 0 to 2`,
    {
      hint: 'write the ring in format 1 with the Swift that made it: swift-ring-builder write_ring',
      details: { format },
    },
  );
}

/**
 * Decodes the oldest rings, without magic: a pickle of a dictionary or of an object. Throws
 * PICKLE_REFUSED, SWIFT_FILE_INVALID.
 */
function decodeRingV0(payload: Buffer): SwiftRing {
  const fields = fieldsOf(readPickle(payload), 'RingData');
  // The fields of an object begin with an underscore, those of the dictionary do not.
  const named = (name: string): string => (fields.has(`_${name}`) ? `_${name}` : name);
  const partPower = 32 - whole(fields, named('part_shift'), [0, 32]);
  requirePartPower(partPower);
  const list = devices(fields);
  const table = rows(fields, named('replica2part2dev_id'));
  return {
    partPower,
    nextPartPower: optionalWhole(fields, 'next_part_power', [0, 32]),
    version: optionalWhole(fields, 'version', [0, Number.MAX_SAFE_INTEGER]),
    devices: list,
    ...tableAndShape(table, { partPower, devices: list }),
  };
}

/**
 * Returns a ring file. Equal rings give equal bytes, under any file name. Throws
 * RING_NOT_CONVERTIBLE when device ids do not fit format 1.
 */
export function encodeSwiftRing(ring: SwiftRing, format: SwiftRingFormat): Buffer {
  if (format === 2) return encodeRingV2(ring);
  if (deviceIdBytes(ring.devices.length) !== 2) {
    const count = ring.devices.length;
    throw new CodedError('RING_NOT_CONVERTIBLE', `${count} device ids do not fit two bytes`, {
      hint: 'format 2 has four bytes per id; Swift reads it since 2.36',
      details: { devices: count, format },
    });
  }
  const payload = encodeRingV1(ring);
  return Buffer.concat([gzipHead, deflatePiece(payload, 'last'), gzipTail([payload])]);
}

function shown(file: Uint8Array): string {
  return file.length === 0 ? 'nothing' : Buffer.from(file.subarray(0, 8)).toString('hex');
}
