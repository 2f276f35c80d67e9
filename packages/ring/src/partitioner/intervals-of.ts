// The intervals of a partitioner in the order of their domain, for people and programs. Pure.
import { isUtf8 } from 'node:buffer';
import type { Json } from '@ringwright/base/canonical-json';
import { equalEnd, positionText } from './hash-ends.ts';
import { keyOfText, keyText } from './key-text.ts';
import {
  type IntervalPartitioner,
  intervalCountOf,
  isIntervals,
  type Partitioner,
} from './partitioner.ts';

/**
 * For hashes: after `start`, up to and including `end`; the first interval begins after the last
 * end. For keys, as bytes: from `start` on, before `end`; null means no bound.
 */
interface Interval<Boundary> {
  readonly id: number;
  readonly start: Boundary;
  readonly end: Boundary;
}

type HashInterval = Interval<number>;
type KeyInterval = Interval<Uint8Array | null>;

export function intervalsOf(partitioner: IntervalPartitioner): (HashInterval | KeyInterval)[] {
  return Array.from({ length: intervalCountOf(partitioner) }, (_, index) =>
    intervalAt(partitioner, index),
  );
}

/** Returns the interval of a partition; null for other partitioners, and for an id without keys. */
export function intervalOf(
  partitioner: Partitioner,
  id: number,
): HashInterval | KeyInterval | null {
  if (!isIntervals(partitioner)) return null;
  const { ids } = partitioner;
  const index = ids === undefined && id < intervalCountOf(partitioner) ? id : ids?.indexOf(id);
  return index === undefined || index < 0 ? null : intervalAt(partitioner, index);
}

function intervalAt(partitioner: IntervalPartitioner, index: number): HashInterval | KeyInterval {
  const id = partitioner.ids?.[index] ?? index;
  if (partitioner.kind === 'ranges') {
    const [start, end] = [partitioner.starts[index - 1], partitioner.starts[index]];
    return { id, start: keyOrNull(start), end: keyOrNull(end) };
  }
  const { ends, partitions } = partitioner;
  if (ends !== undefined) return { id, start: ends.at(index - 1) ?? 0, end: ends[index] ?? 0 };
  const before = index === 0 ? partitions - 1 : index - 1;
  return { id, start: equalEnd(before, partitions), end: equalEnd(index, partitions) };
}

function keyOrNull(text: string | undefined): Uint8Array | null {
  return text === undefined ? null : keyOfText(text);
}

/** Returns `(.5, .75]` for hashes, and `[g, n)` for keys, with … where there is no bound. */
export function intervalText({ start, end }: HashInterval | KeyInterval): string {
  if (typeof start === 'number' && typeof end === 'number') {
    return `(${positionText(start)}, ${positionText(end)}]`;
  }
  const [first, after] = [start, end].map((key) =>
    key instanceof Uint8Array ? keyText(key) : '…',
  );
  return `[${first}, ${after})`;
}

/** Returns an interval in JSON: keys as text, or in base64 when they are not UTF-8. */
export function intervalJson({ id, start, end }: HashInterval | KeyInterval): Json {
  return { id, ...boundaryJson('start', start), ...boundaryJson('end', end) };
}

function boundaryJson(name: 'start' | 'end', boundary: number | Uint8Array | null) {
  if (!(boundary instanceof Uint8Array)) return { [name]: boundary };
  const bytes = Buffer.from(boundary);
  return isUtf8(bytes)
    ? { [name]: bytes.toString('utf8') }
    : { [`${name}64`]: bytes.toString('base64') };
}
