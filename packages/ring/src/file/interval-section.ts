// The `intervals` section of a ring file: boundaries with ids, in the order of the domain. Pure.
import { assert } from '@ringwright/base/assert';
import { keyBytesMax } from '@ringwright/base/limits';
import { keyOfText, keyText } from '../partitioner/key-text.ts';
import type {
  HashIntervalsPartitioner,
  IntervalPartitioner,
  Partitioner,
  RangesPartitioner,
} from '../partitioner/partitioner.ts';
import type { PartitionerSettings } from '../partitioner/partitioner-settings.ts';
import { fileInvalid } from './ring-file-error.ts';

const hashEntryBytes = 8;
const keyHeadBytes = 6;

/** Returns null when the settings suffice: equal intervals, or no intervals. */
export function encodeIntervals(partitioner: Partitioner): Buffer | null {
  if (partitioner.kind === 'ranges') {
    const { starts, ids } = partitioner;
    return encodeKeys([new Uint8Array(), ...starts.map(keyOfText)], ids);
  }
  if (partitioner.kind !== 'hash-intervals') return null;
  const { ends, ids } = partitioner;
  assert(ends !== undefined || ids === undefined, 'ids are listed with ends');
  return ends === undefined ? null : encodeEnds(ends, ids);
}

/** Returns the partitioner of the settings and the section. Throws RING_FILE_INVALID. */
export function decodeIntervals(settings: PartitionerSettings, section: () => Buffer): Partitioner {
  if (settings.kind === 'hash-intervals') {
    const { intervals, ...rest } = settings;
    return intervals === undefined ? rest : { ...rest, ...decodeEnds(section(), intervals) };
  }
  if (settings.kind !== 'ranges') return settings;
  const { intervals, ...rest } = settings;
  return { ...rest, ...decodeKeys(section(), intervals) };
}

function encodeEnds(ends: readonly number[], ids: readonly number[] | undefined): Buffer {
  const bytes = Buffer.allocUnsafe(ends.length * hashEntryBytes);
  for (const [index, end] of ends.entries()) {
    bytes.writeUInt32BE(ids?.[index] ?? index, index * hashEntryBytes);
    bytes.writeUInt32BE(end, index * hashEntryBytes + 4);
  }
  return bytes;
}

function decodeEnds(bytes: Buffer, count: number): Pick<HashIntervalsPartitioner, 'ends' | 'ids'> {
  const expectedBytes = count * hashEntryBytes;
  if (bytes.length !== expectedBytes) {
    throw fileInvalid('section intervals', `${bytes.length} bytes`, `${expectedBytes} bytes`);
  }
  const word = (index: number, at: number): number =>
    bytes.readUInt32BE(index * hashEntryBytes + at);
  const ends = Array.from({ length: count }, (_, index) => word(index, 4));
  return { ends, ...listedIds(Array.from({ length: count }, (_, index) => word(index, 0))) };
}

function encodeKeys(starts: readonly Uint8Array[], ids: readonly number[] | undefined): Buffer {
  return Buffer.concat(
    starts.flatMap((start, index) => {
      const head = Buffer.allocUnsafe(keyHeadBytes);
      head.writeUInt32BE(ids?.[index] ?? index);
      head.writeUInt16BE(start.length, 4);
      return [head, start];
    }),
  );
}

/** The first range has no start, so its entry has no bytes. */
function decodeKeys(bytes: Buffer, count: number): Pick<RangesPartitioner, 'starts' | 'ids'> {
  const ids: number[] = [];
  const starts: string[] = [];
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + keyHeadBytes > bytes.length) throw cutShort(index, count);
    ids.push(bytes.readUInt32BE(at));
    const length = bytes.readUInt16BE(at + 4);
    at += keyHeadBytes;
    if (length > keyBytesMax) throw fileInvalid('a start', `${length} bytes`, `≤ ${keyBytesMax}`);
    if ((length === 0) !== (index === 0)) {
      throw fileInvalid(`start ${index}`, `${length} bytes`, index === 0 ? 'none' : '1 or more');
    }
    if (at + length > bytes.length) throw cutShort(index, count);
    starts.push(keyText(bytes.subarray(at, at + length)));
    at += length;
  }
  if (at !== bytes.length) {
    throw fileInvalid('section intervals', `${bytes.length} bytes`, `${at} bytes`);
  }
  return { starts: starts.slice(1), ...listedIds(ids) };
}

/** Leaves out ids that are 0, 1, 2 …, as in partitioners whose ids were never listed. */
function listedIds(ids: number[]): Pick<IntervalPartitioner, 'ids'> {
  return ids.every((id, index) => id === index) ? {} : { ids };
}

function cutShort(found: number, wanted: number): Error {
  return fileInvalid('section intervals', `cut short after ${found} intervals`, wanted);
}
