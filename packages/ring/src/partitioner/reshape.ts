// Other intervals of the same domain: splits of partitions and merges of neighbors. Children get
// new ids, so that an id never stands for another interval. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { partitionCountMax } from '@ringwright/base/limits';
import { asIntervals } from './as-intervals.ts';
import { equalEnd, hashCuts, positionText } from './hash-ends.ts';
import { intervalOfHash } from './hash-intervals.ts';
import { intervalOf, intervalText } from './intervals-of.ts';
import { keyOfText, keyText } from './key-text.ts';
import {
  type IntervalPartitioner,
  intervalCountOf,
  isIntervals,
  type Partitioner,
} from './partitioner.ts';
import { samePartitioner } from './partitioner-settings.ts';
import { emptiedIn, rangeOfKey } from './ranges.ts';

/** The last hash of an interval; or the first key of a range, in the form of `key-text.ts`. */
type Border = number | string;

export interface Entry {
  readonly id: number;
  readonly border: Border;
}

/** Returns the partitioner with all intervals listed, and `partitions` ids issued. */
export function withListedIntervals(
  partitioner: IntervalPartitioner,
  partitions: number = partitioner.partitions,
): IntervalPartitioner {
  return withEntries(partitioner, entriesOf(partitioner), partitions);
}

/**
 * Returns the partitioner with the interval cut after each hash, or before each key, of `at`.
 * Throws VALUE_OUT_OF_RANGE, SPLIT_OUTSIDE.
 */
export function splitInterval(
  partitioner: IntervalPartitioner,
  id: number,
  at: readonly Border[],
): IntervalPartitioner {
  const entries = entriesOf(partitioner);
  const parent = requireLive(entries, id, partitioner);
  const inside = at.map((border) => canonical(partitioner, border));
  for (const [index, border] of inside.entries()) {
    const isTwice = inside.indexOf(border) !== index;
    if (partitionAt(partitioner, border) === id && border !== parent.border && !isTwice) continue;
    throw outside(partitioner, { id, border, isTwice });
  }
  const { partitions } = partitioner;
  const borders = inDomainOrder(partitioner, id, [...inside, parent.border]);
  const children = borders.map((border, index) => ({ id: partitions + index, border }));
  const otherEntries = entries.filter((entry) => entry !== parent);
  return withEntries(partitioner, [...otherEntries, ...children], partitions + children.length);
}

/** Cuts a hash interval into equal parts. Throws VALUE_OUT_OF_RANGE, SPLIT_OUTSIDE. */
export function equalCuts(partitioner: IntervalPartitioner, id: number, parts: number): number[] {
  requireLive(entriesOf(partitioner), id, partitioner);
  const interval = intervalOf(partitioner, id);
  const [start, end] = [interval?.start, interval?.end];
  if (typeof start !== 'number' || typeof end !== 'number') {
    const message = `partition ${id} is a range of keys; only hashes can be split in equal parts`;
    throw new CodedError('SPLIT_OUTSIDE', message, {
      hint: `name the first key of the later part: ring-builder split RING ${id} --at KEY`,
      details: { partition: id, parts },
    });
  }
  const cuts = hashCuts({ start, end }, parts);
  if (cuts.length === parts - 1) return cuts;
  const hashes = cuts.length + 1;
  throw new CodedError('SPLIT_OUTSIDE', `partition ${id} has ${hashes} hashes for ${parts} parts`, {
    details: { partition: id, hashes, parts },
  });
}

/** Merges two neighboring intervals. Throws VALUE_OUT_OF_RANGE, MERGE_NOT_ADJACENT. */
export function mergeIntervals(
  partitioner: IntervalPartitioner,
  one: number,
  other: number,
): IntervalPartitioner {
  const entries = entriesOf(partitioner);
  const [a, b] = [one, other].map((id) => requireLive(entries, id, partitioner));
  const [first, last] =
    a !== undefined && b !== undefined ? neighbours(partitioner, entries, [a, b]) : [];
  if (first === undefined || last === undefined) throw notAdjacent(partitioner, one, other);
  const border = partitioner.kind === 'ranges' ? first.border : last.border;
  const others = entries.filter((entry) => entry !== a && entry !== b);
  const { partitions } = partitioner;
  return withEntries(partitioner, [...others, { id: partitions, border }], partitions + 1);
}

/** Returns both in the order of the domain (hashes form a circle), or nothing if not adjacent. */
function neighbours(
  { kind }: IntervalPartitioner,
  entries: readonly Entry[],
  [a, b]: readonly [Entry, Entry],
): readonly Entry[] {
  if (a === b) return [];
  const [indexA, indexB] = [entries.indexOf(a), entries.indexOf(b)];
  const after = (index: number): number =>
    kind === 'ranges' ? index + 1 : (index + 1) % entries.length;
  if (after(indexA) === indexB) return [a, b];
  return after(indexB) === indexA ? [b, a] : [];
}

export interface ReshapeMapping {
  /** Ids that only the later partitioner has, ascending, each with the ids whose keys it gets. */
  readonly parents: ReadonlyMap<number, readonly number[]>;
  /** Ids that only the earlier partitioner has. */
  readonly retired: ReadonlySet<number>;
  /** Ids that begin without the records of their parents. */
  readonly emptied: ReadonlySet<number>;
}

/** Two intervals overlap when the border of one lies in the other. */
export function reshapeMapping(
  before: IntervalPartitioner,
  after: IntervalPartitioner,
): ReshapeMapping {
  const [oldEntries, newEntries] = [entriesOf(before), entriesOf(after)];
  const live = new Set(newEntries.map(({ id }) => id));
  const oldIds = new Set(oldEntries.map(({ id }) => id));
  const parents = new Map<number, number[]>();
  const add = (child: number, parent: number): void => {
    if (oldIds.has(child)) return;
    const ids = parents.get(child) ?? [];
    parents.set(child, ids);
    if (!ids.includes(parent)) ids.push(parent);
  };
  const [oldId, newId] = [idOf(before), idOf(after)];
  for (const { id, border } of newEntries) if (!oldIds.has(id)) add(id, oldId(border));
  const retired = oldEntries.filter(({ id }) => !live.has(id));
  for (const { id, border } of retired) add(newId(border), id);
  const sorted = [...parents].sort(([a], [b]) => a - b);
  const areRanges = before.kind === 'ranges' && after.kind === 'ranges';
  const emptied = areRanges ? emptiedIn(before, after).filter((id) => !oldIds.has(id)) : [];
  return {
    parents: new Map(sorted),
    retired: new Set(retired.map(({ id }) => id)),
    emptied: new Set(emptied),
  };
}

/** Whether both have one domain, and no id gets another interval or is used again. */
export function mayFollow(before: Partitioner, after: Partitioner): boolean {
  if (samePartitioner(before, after)) return true;
  const earlier = asIntervals(before);
  if (earlier === null || !isIntervals(after) || after.partitions < earlier.partitions)
    return false;
  if (domainText(earlier) !== domainText(after)) return false;
  const { partitions } = earlier;
  if (partitions === after.partitions && intervalCountOf(earlier) === partitions) return false;
  const spansBefore = spansOf(earlier);
  return [...spansOf(after)].every(([id, span]) => (spansBefore.get(id) ?? span) === span);
}

/** Returns the borders of each interval, by id. The last range has none: no key is empty. */
function spansOf(partitioner: IntervalPartitioner): Map<number, string> {
  const entries = entriesOf(partitioner);
  const isCircle = partitioner.kind === 'hash-intervals';
  return new Map(
    entries.map(({ id, border }, index) => {
      const other = isCircle ? entries.at(index - 1) : entries[index + 1];
      return [id, `${border} ${other?.border ?? ''}`];
    }),
  );
}

function domainText(partitioner: IntervalPartitioner): string {
  if (partitioner.kind === 'ranges') return partitioner.kind;
  return JSON.stringify([partitioner.kind, partitioner.hash, partitioner.hashKey]);
}

export function entriesOf(partitioner: IntervalPartitioner): Entry[] {
  const { ids } = partitioner;
  const borders: readonly Border[] =
    partitioner.kind === 'ranges'
      ? ['', ...partitioner.starts]
      : (partitioner.ends ??
        Array.from({ length: partitioner.partitions }, (_, index) =>
          equalEnd(index, partitioner.partitions),
        ));
  return borders.map((border, index) => ({ id: ids?.[index] ?? index, border }));
}

/** Returns the canonical form: ids that are 0, 1, 2 … are left out. */
export function withEntries(
  partitioner: IntervalPartitioner,
  entries: readonly Entry[],
  partitions: number,
): IntervalPartitioner {
  if (partitions > partitionCountMax) {
    const message = `${partitions} partitions with retired ones, at most ${partitionCountMax}`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, {
      details: { partitions, partitionCountMax },
    });
  }
  const sorted = [...entries].sort((a, b) => compareBorders(a.border, b.border));
  const areInOrder = sorted.every(({ id }, index) => id === index);
  const ids = areInOrder ? {} : { ids: sorted.map(({ id }) => id) };
  const borders = sorted.map(({ border }) => border);
  if (partitioner.kind === 'ranges') {
    const starts = borders.slice(1).map(String);
    const { retiredBefore } = partitioner;
    const isThere = retiredBefore !== undefined && starts.includes(retiredBefore);
    return { kind: 'ranges', partitions, starts, ...(isThere && { retiredBefore }), ...ids };
  }
  const { ends: _ends, ids: _ids, ...settings } = partitioner;
  return { ...settings, partitions, ends: borders.map(Number), ...ids };
}

function compareBorders(one: Border, other: Border): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return Buffer.compare(keyOfText(String(one)), keyOfText(String(other)));
}

/** Sorts borders from the start of the interval on, because the circle of hashes wraps. */
function inDomainOrder(
  partitioner: IntervalPartitioner,
  id: number,
  borders: readonly Border[],
): Border[] {
  const start = intervalOf(partitioner, id)?.start;
  const isAfter = (border: Border): boolean =>
    typeof border !== 'number' || typeof start !== 'number' || border > start;
  const sorted = [...borders].sort(compareBorders);
  return [...sorted.filter(isAfter), ...sorted.filter((border) => !isAfter(border))];
}

/** Returns a function that finds the partition in which a border lies. */
function idOf(partitioner: IntervalPartitioner): (border: Border) => number {
  if (partitioner.kind === 'ranges') {
    const partitionOf = rangeOfKey(partitioner);
    return (border) => partitionOf(keyOfText(String(border)));
  }
  const partitionOf = intervalOfHash(partitioner);
  return (border) => partitionOf(Number(border));
}

/** Returns the partition in which the border lies. */
export function partitionAt(partitioner: IntervalPartitioner, border: Border): number {
  return idOf(partitioner)(border);
}

function canonical({ kind }: IntervalPartitioner, border: Border): Border {
  return kind === 'ranges' ? keyText(keyOfText(String(border))) : Number(border);
}

function requireLive(
  entries: readonly Entry[],
  id: number,
  { partitions }: IntervalPartitioner,
): Entry {
  const found = entries.find((entry) => entry.id === id);
  if (found !== undefined) return found;
  const reason = id < partitions ? 'was split or merged before' : `${partitions} were ever made`;
  throw new CodedError('VALUE_OUT_OF_RANGE', `there is no partition ${id}: ${reason}`, {
    hint: 'ring-builder table RING lists the partitions with their intervals',
    details: { partition: id, partitions },
  });
}

function borderText(border: Border): string {
  return typeof border === 'number'
    ? positionText(border)
    : border === ''
      ? 'the first key'
      : border;
}

function outside(
  partitioner: IntervalPartitioner,
  { id, border, isTwice }: { id: number; border: Border; isTwice: boolean },
): CodedError {
  const interval = intervalOf(partitioner, id);
  const rangeText = interval === null ? '' : intervalText(interval);
  const cutText = borderText(border);
  const reason = isTwice ? 'is named twice' : 'would leave an empty interval, or lies outside';
  const message = `partition ${id} is ${rangeText}: a split at ${cutText} ${reason}`;
  return new CodedError('SPLIT_OUTSIDE', message, {
    hint: 'name a position inside it: ring-builder table RING lists the intervals',
    details: { partition: id, interval: rangeText, at: cutText },
  });
}

function notAdjacent(partitioner: IntervalPartitioner, one: number, other: number): CodedError {
  const texts = [one, other].map((id) => {
    const interval = intervalOf(partitioner, id);
    return interval === null ? '' : intervalText(interval);
  });
  const message = `partition ${one} is ${texts[0]} and ${other} is ${texts[1]}: not neighbors`;
  return new CodedError('MERGE_NOT_ADJACENT', message, {
    hint: 'ring-builder table RING lists the intervals in their order',
    details: { partitions: [one, other], intervals: texts },
  });
}
