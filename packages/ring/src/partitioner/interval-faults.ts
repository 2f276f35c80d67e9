// Finds the faults of a partitioner's intervals, each a sentence with both values. Pure.
import { hashDelimiterBytesMax, keyBytesMax, partitionCountMax } from '@ringwright/base/limits';
import { positionText } from './hash-ends.ts';
import { hashPositions } from './hash-intervals.ts';
import { keyOfText, keyText } from './key-text.ts';
import {
  braceTag,
  type HashIntervalsPartitioner,
  type IntervalPartitioner,
  intervalCountOf,
  intervalHashes,
  type RangesPartitioner,
} from './partitioner.ts';

interface IntervalFault {
  readonly message: string;
  /** Both values, as texts or numbers. */
  readonly found: string | number;
  readonly wanted: string | number;
}

/**
 * Yields boundaries that do not ascend strictly (an interval would be empty), boundaries outside
 * the domain, and ids that are missing, duplicate or unknown. Without a fault, the intervals cover
 * the domain exactly once.
 */
export function* intervalFaults(partitioner: IntervalPartitioner): Generator<IntervalFault> {
  const { partitions } = partitioner;
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > partitionCountMax) {
    const message = `${partitions} partitions, expected 1 to ${partitionCountMax}`;
    yield { message, found: partitions, wanted: partitionCountMax };
    return;
  }
  if (partitioner.kind === 'ranges') yield* startFaults(partitioner);
  else yield* hashFaults(partitioner);
  yield* idFaults(partitioner);
}

function* hashFaults({ hash, hashKey, ends }: HashIntervalsPartitioner): Generator<IntervalFault> {
  if (!intervalHashes.includes(hash)) {
    const wanted = intervalHashes.join(', ');
    yield { message: `unknown hash ${hash}, expected ${wanted}`, found: hash, wanted };
  }
  const delimiterBytes = Buffer.byteLength(hashKey ?? braceTag);
  if (delimiterBytes < 1 || delimiterBytes > hashDelimiterBytesMax) {
    const wanted = hashDelimiterBytesMax;
    const message = `the hash key's delimiter has ${delimiterBytes} bytes, expected 1 to ${wanted}`;
    yield { message, found: delimiterBytes, wanted };
  }
  let before = -1;
  const count = ends?.length ?? 0;
  for (let index = 0; index < count; index += 1) {
    const end = ends?.[index] ?? -1;
    if (!Number.isInteger(end) || end < 0 || end >= hashPositions) {
      const message = `interval ${index} ends at ${end}, expected a whole number below 2^32`;
      yield { message, found: end, wanted: hashPositions - 1 };
    }
    if (end <= before) {
      const [found, last] = [positionText(end), positionText(before)];
      yield outOfOrder(index, `ends at ${found}`, [found, last]);
    }
    before = end;
  }
}

function* startFaults({ starts, retiredBefore }: RangesPartitioner): Generator<IntervalFault> {
  let before: Uint8Array = new Uint8Array();
  for (const [index, text] of starts.entries()) {
    const start = keyOfText(text);
    if (keyText(start) !== text) {
      const wanted = keyText(start);
      yield { message: `start ${text} must be written ${wanted}`, found: text, wanted };
    }
    if (start.length > keyBytesMax) {
      const message = `a start has ${start.length} bytes, but keys have at most ${keyBytesMax}`;
      yield { message, found: start.length, wanted: keyBytesMax };
    }
    if (Buffer.compare(before, start) >= 0) {
      const name = index === 0 ? 'the first key of all' : keyText(before);
      yield outOfOrder(index + 1, `starts at ${text === '' ? 'no key' : text}`, [text, name]);
    }
    before = start;
  }
  if (retiredBefore === undefined || starts.includes(retiredBefore)) return;
  const message = `keys before ${retiredBefore} are retired, but no interval starts there`;
  yield { message, found: retiredBefore, wanted: 'a start' };
}

function outOfOrder(
  index: number,
  where: string,
  [found, before]: readonly [string | number, string | number],
): IntervalFault {
  const reason = found === before ? 'so that it is empty' : 'out of order';
  const message = `interval ${index} ${where}, the previous one at ${before}: ${reason}`;
  return { message, found, wanted: before };
}

/** There may be more ids than intervals: ids of split or merged partitions are never reused. */
function* idFaults(partitioner: IntervalPartitioner): Generator<IntervalFault> {
  const { partitions, ids } = partitioner;
  const count = intervalCountOf(partitioner);
  if (count > partitions) {
    const message = `${count} intervals for ${partitions} partitions`;
    yield { message, found: count, wanted: partitions };
  }
  if (ids === undefined) return;
  if (partitioner.kind === 'hash-intervals' && partitioner.ends === undefined) {
    yield { message: 'ids are listed, but no ends', found: ids.length, wanted: 0 };
  }
  if (ids.length !== count) {
    const message = `${ids.length} ids for ${count} intervals`;
    yield { message, found: ids.length, wanted: count };
  }
  const seen = new Uint8Array(partitions);
  for (const [index, id] of ids.entries()) {
    const isKnown = Number.isInteger(id) && id >= 0 && id < partitions;
    if (isKnown && seen[id] === 0) seen[id] = 1;
    else {
      const reason = isKnown ? 'which another one has' : `of ${partitions} partitions`;
      yield { message: `interval ${index} has id ${id}, ${reason}`, found: id, wanted: partitions };
    }
  }
}
