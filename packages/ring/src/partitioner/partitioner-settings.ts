// A partitioner in short form: its settings without lists of boundaries. Pure.
import { canonicalJson } from '@ringwright/base/canonical-json';
import {
  type HashIntervalsPartitioner,
  isIntervals,
  type Md5ShiftPartitioner,
  type Murmur3ModPartitioner,
  type Partitioner,
  type RangesPartitioner,
} from './partitioner.ts';

/** As in the manifest of a ring file: `intervals` is the length of the omitted list. */
export type PartitionerSettings =
  | Md5ShiftPartitioner
  | Murmur3ModPartitioner
  | (Omit<HashIntervalsPartitioner, 'ends' | 'ids'> & { readonly intervals?: number })
  | (Omit<RangesPartitioner, 'starts' | 'ids'> & { readonly intervals: number });

export function partitionerSettings(partitioner: Partitioner): PartitionerSettings {
  if (partitioner.kind === 'ranges') {
    const { starts, ids: _ids, ...settings } = partitioner;
    return { ...settings, intervals: starts.length + 1 };
  }
  if (partitioner.kind !== 'hash-intervals') return partitioner;
  const { ends, ids: _ids, ...settings } = partitioner;
  return ends === undefined ? settings : { ...settings, intervals: ends.length };
}

/** Returns the settings in canonical form: equal settings give equal texts. */
export function settingsText(partitioner: Partitioner): string {
  return canonicalJson({ ...partitionerSettings(partitioner) });
}

/** Compares lists of boundaries member by member: a million of them as text take seconds. */
export function samePartitioner(one: Partitioner, other: Partitioner): boolean {
  if (one === other) return true;
  if (settingsText(one) !== settingsText(other)) return false;
  if (!isIntervals(one) || !isIntervals(other)) return true;
  return sameList(boundariesOf(one), boundariesOf(other)) && sameList(one.ids, other.ids);
}

function boundariesOf(
  partitioner: HashIntervalsPartitioner | RangesPartitioner,
): readonly (number | string)[] | undefined {
  return partitioner.kind === 'ranges' ? partitioner.starts : partitioner.ends;
}

function sameList<Member>(
  one: readonly Member[] | undefined,
  other: readonly Member[] | undefined,
): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((member, index) => member === other[index]);
}
