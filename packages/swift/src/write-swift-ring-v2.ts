// Writes Swift's ring format 2. Each section is its own deflate stream, so it can be read alone.
// Pure. Layout: swift-ring-v2.ts.
import { sha256 } from '@ringwright/base/sha256';
import { bytesOfRows } from '@ringwright/ring/file/row-bytes';
import { deviceIdBytes } from '@ringwright/ring/slot-rows';
import { asciiJson, asciiObject, floatJson } from './ascii-json.ts';
import { devicesJson } from './swift-device.ts';
import { deflatePiece, gzipHead, gzipTail } from './swift-gzip.ts';
import { replicasOfTable, type SwiftRing } from './swift-ring.ts';

const magic = Buffer.from('R1NG\x00\x02', 'latin1');
/** Ends of a stored block: the empty block that a full flush leaves, and the final empty block. */
const flush = Buffer.of(0, 0, 0, 0xff, 0xff);
const end = Buffer.of(1, 0, 0, 0xff, 0xff);

/** Returns the whole file. Equal rings give equal bytes. */
export function encodeRingV2(ring: SwiftRing): Buffer {
  const file: Buffer[] = [gzipHead, stored(magic)];
  const content: Buffer[] = [magic];
  const index: [string, string][] = [];
  for (const [name, bytes] of sectionsOf(ring)) {
    const [fileAt, at] = [total(file), total(content)];
    const section = Buffer.concat([length(bytes.length), bytes]);
    content.push(section);
    file.push(deflatePiece(section, 'more follow'));
    const digest = sha256(section);
    index.push([name, asciiJson([fileAt, at, total(file), total(content), 'sha256', digest])]);
  }
  const [fileIndexAt, indexAt] = [total(file), total(content)];
  const text = Buffer.from(asciiObject(index));
  const ending = [Buffer.concat([length(text.length), text]), length(indexAt), length(fileIndexAt)];
  const [indexBytes = magic, ...offsets] = ending;
  content.push(...ending);
  file.push(deflatePiece(indexBytes, 'more follow'), ...offsets.map(stored), end);
  return Buffer.concat([...file, gzipTail(content)]);
}

function sectionsOf(ring: SwiftRing): [name: string, bytes: Buffer][] {
  const idBytes = ring.idBytes === 4 ? 4 : deviceIdBytes(ring.devices.length);
  const metadata = asciiObject([
    ['dev_id_bytes', String(idBytes)],
    ['part_shift', String(32 - ring.partPower)],
    ['replica_count', floatJson(replicasOfTable(ring.table, ring.partPower))],
    ['version', JSON.stringify(ring.version)],
    ...(ring.nextPartPower === null
      ? []
      : [['next_part_power', String(ring.nextPartPower)] as const]),
  ]);
  return [
    ['swift/ring/metadata', Buffer.from(metadata)],
    ['swift/ring/devices', Buffer.from(devicesJson(ring.devices))],
    ['swift/ring/assignments', bytesOfRows(ring.table, { idBytes, order: 'big' })],
  ];
}

/** Stores bytes uncompressed, with a known length in the file, by which Swift finds the index. */
function stored(bytes: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt16LE(bytes.length, 1);
  head.writeUInt16LE(0xffff - bytes.length, 3);
  return Buffer.concat([head, bytes, flush]);
}

function length(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function total(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
