// Returns a stretch of a keyspace in one answer of SCAN. This continues a scan from a cursor whose
// position this server does not know, and reaches a position that every server knows.
import { crc32 } from 'node:zlib';
import { listKeysMax, redisAnswerBytesMax } from '@ringwright/base/limits';
import {
  nextPosition,
  type ScanPosition,
  scannedOf,
} from '@ringwright/ring/partitioner/scan-order';
import { type KeyspaceScan, scanKeyspace } from '../coordinate/scan-keyspace.ts';
import type { CoordinatorPorts } from '../coordinate/with-newest-ring.ts';
import { RedisRefusal } from './redis-command.ts';
import { forward, type ScanStart, stretchSlices } from './scan-cursors.ts';

/** Memory that a key takes beyond its bytes, until its answer is sent. */
const KEY_HELD_BYTES = 128;

export interface ScanAnswer {
  readonly keys: readonly Uint8Array[];
  readonly next: ScanStart;
}

interface Stretch {
  readonly position: ScanPosition;
  readonly slice: number;
}

/**
 * Returns the wanted keys of the stretch, in as many of its slices as one answer holds. Reads its
 * pages to the end, whatever the limit. Throws what scanKeyspace throws, and a refusal if one slice
 * is too long.
 */
export async function scanStretch(
  ports: CoordinatorPorts,
  scan: KeyspaceScan,
  { position, slice }: Stretch,
): Promise<ScanAnswer> {
  const slices = new HeldSlices(slice);
  const isWanted = (key: Uint8Array): boolean => slices.has(key) && (scan.isWanted?.(key) ?? true);
  const stretch = { ...scan, only: position.partition, limit: listKeysMax, isWanted };
  for (let at: ScanPosition | null = position; at !== null; ) {
    const page = await scanKeyspace(ports, { ...stretch, position: at });
    slices.add(page.rows.map(({ key }) => Uint8Array.from(key)));
    at = page.position;
  }
  if (slices.end < stretchSlices)
    return { keys: slices.keys, next: { position, slice: slices.end } };
  const { ring } = ports.rings.get(scan.keyspace);
  const scanned = scannedOf(ring, { bounds: forward, prefix: new Uint8Array() });
  return { keys: slices.keys, next: { position: nextPosition(scanned, position), slice: null } };
}

/**
 * The keys of the slices from the first on. When they are too many, the upper half of the slices is
 * dropped.
 */
class HeldSlices {
  readonly #first: number;
  #bytes = 0;
  keys: Uint8Array[] = [];
  end = stretchSlices;

  constructor(first: number) {
    this.#first = first;
  }

  has(key: Uint8Array): boolean {
    const slice = sliceOf(key);
    return slice >= this.#first && slice < this.end;
  }

  add(keys: readonly Uint8Array[]): void {
    for (const key of keys) this.keys.push(key);
    this.#bytes += heldBytes(keys);
    while (this.#bytes > redisAnswerBytesMax) {
      if (this.end === this.#first + 1) throw tooLong();
      this.end = Math.ceil((this.#first + this.end) / 2);
      this.keys = this.keys.filter((key) => this.has(key));
      this.#bytes = heldBytes(this.keys);
    }
  }
}

function sliceOf(key: Uint8Array): number {
  return Math.floor((crc32(key) / 2 ** 32) * stretchSlices);
}

function heldBytes(keys: readonly Uint8Array[]): number {
  return keys.reduce((bytes, { length }) => bytes + length + KEY_HELD_BYTES, 0);
}

function tooLong(): RedisRefusal {
  const what = `the keys after a cursor of another server exceed ${redisAnswerBytesMax} bytes`;
  return new RedisRefusal(`ERR ${what}: start the scan again, and use only one server`);
}
