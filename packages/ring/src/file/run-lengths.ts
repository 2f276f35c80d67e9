// Run-length form of an array of 32-bit numbers: pairs of length and value, big-endian. Pure.
import { fileInvalid } from './ring-file-error.ts';

const pairBytes = 8;

export function encodeRuns(values: Uint32Array): Buffer {
  const runs: number[] = [];
  for (let start = 0; start < values.length; ) {
    let end = start + 1;
    while (end < values.length && values[end] === values[start]) end += 1;
    runs.push(end - start, values[start] ?? 0);
    start = end;
  }
  const bytes = Buffer.allocUnsafe(runs.length * 4);
  for (const [index, word] of runs.entries()) bytes.writeUInt32BE(word, index * 4);
  return bytes;
}

/** Exactly `count` values. Throws RING_FILE_INVALID; a run is checked before it is written. */
export function decodeRuns(bytes: Buffer, count: number): Uint32Array {
  if (bytes.length % pairBytes !== 0 || bytes.length > count * pairBytes) {
    throw fileInvalid('length of section minVersions', bytes.length, `at most ${count} pairs of 8`);
  }
  const values = new Uint32Array(count);
  let filled = 0;
  let before = -1;
  for (let offset = 0; offset < bytes.length; offset += pairBytes) {
    const length = bytes.readUInt32BE(offset);
    const value = bytes.readUInt32BE(offset + 4);
    if (length === 0 || length > count - filled) {
      throw fileInvalid('a run of minVersions', length, `1 to ${count - filled} partitions`);
    }
    if (value === before)
      throw fileInvalid('a run of minVersions', `${value} again`, 'a new value');
    values.fill(value, filled, filled + length);
    filled += length;
    before = value;
  }
  if (filled !== count) throw fileInvalid('partitions with a minVersion', filled, count);
  return values;
}
