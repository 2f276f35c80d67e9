// The intervals of a ring after partitions are split, merged or retired: one, two, or all. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { asIntervals } from '@ringwright/ring/partitioner/as-intervals';
import { timesIntervals } from '@ringwright/ring/partitioner/partition-power';
import {
  type HashIntervalsPartitioner,
  type IntervalPartitioner,
  intervalCountOf,
} from '@ringwright/ring/partitioner/partitioner';
import {
  mergeIntervals,
  reshapeMapping,
  splitInterval,
} from '@ringwright/ring/partitioner/reshape';
import { retireBefore } from '@ringwright/ring/partitioner/retired-ranges';
import type { BuilderState, Pin } from './builder-state.ts';
import type { Change } from './change.ts';

export type ReshapeChange =
  | Extract<Change, { kind: 'split' | 'merge' | 'retire' }>
  | { readonly kind: 'power'; readonly power: number };

interface Reshaped {
  readonly partitioner: IntervalPartitioner;
  /** The pins that remain. Pins of merged partitions have served their purpose and are dropped. */
  readonly pins: readonly Pin[];
}

/** Throws RESHAPE_UNFIT, SPLIT_OUTSIDE, MERGE_NOT_ADJACENT, RETIRE_NOTHING, VALUE_OUT_OF_RANGE. */
export function reshapedBy(state: BuilderState, change: ReshapeChange): Reshaped {
  const before = requireIntervals(state);
  const { replicas, pins = [] } = state;
  if (!Number.isInteger(replicas)) {
    throw unfit(state, `it has ${replicas} replicas, which is not a whole number`, {
      hint: `ring-builder set ${state.ring} --replicas ${Math.ceil(replicas)} and a rollout first`,
      details: { replicas },
    });
  }
  const partitioner = wantedBy(state, before, change);
  const { parents, retired } = reshapeMapping(before, partitioner);
  const merged = new Set([...parents.values()].filter(({ length }) => length > 1).flat());
  const pinned = pins.find(({ partition }) => retired.has(partition) && !merged.has(partition));
  if (pinned !== undefined) {
    throw unfit(state, `partition ${pinned.partition} is pinned`, {
      hint: `ring-builder unpin ${state.ring} ${pinned.partition}`,
      details: { partition: pinned.partition },
    });
  }
  return { partitioner, pins: pins.filter(({ partition }) => !merged.has(partition)) };
}

function wantedBy(
  state: BuilderState,
  before: IntervalPartitioner,
  change: ReshapeChange,
): IntervalPartitioner {
  if (change.kind === 'split') return splitInterval(before, change.partition, change.at);
  if (change.kind === 'merge') return mergeIntervals(before, ...change.partitions);
  if (change.kind === 'retire') return withoutPast(state, before, change.before);
  return withPower(state, before, change.power);
}

function withoutPast(
  state: BuilderState,
  before: IntervalPartitioner,
  key: string,
): IntervalPartitioner {
  if (before.kind === 'ranges') return retireBefore(before, key);
  throw unfit(state, 'hashed keys have no order, so there is nothing before a key', {
    hint: 'to drop keys by age, use a ring of ranges, or a time to live',
    details: { partitioner: before.kind },
  });
}

function withPower(
  state: BuilderState,
  before: IntervalPartitioner,
  power: number,
): IntervalPartitioner {
  if (before.kind === 'ranges') {
    throw unfit(state, 'ranges of keys cannot be halved', {
      hint: `name the key: ring-builder split ${state.ring} PARTITION --at KEY`,
      details: { partitioner: before.kind },
    });
  }
  const count = intervalCountOf(before);
  const factor = 2 ** power / count;
  if (!Number.isInteger(Math.log2(factor))) {
    throw unfit(state, `${count} partitions cannot become ${2 ** power}`, {
      hint: 'double or halve the number, once or more; split and merge change single partitions',
      details: { partitions: count, wanted: 2 ** power },
    });
  }
  return timesIntervals(before, factor) ?? throwTooNarrow(state, before, factor);
}

function throwTooNarrow(
  state: BuilderState,
  before: HashIntervalsPartitioner,
  parts: number,
): never {
  throw unfit(state, `one of its partitions has fewer hashes than ${parts}`, {
    hint: `ring-builder table ${state.ring} lists the intervals`,
    details: { partitions: intervalCountOf(before), parts },
  });
}

/** Throws RESHAPE_UNFIT for a ring whose partitions are not intervals. */
export function requireIntervals(state: BuilderState): IntervalPartitioner {
  const { partitioner, swift } = state;
  const intervals = swift === undefined ? asIntervals(partitioner) : null;
  if (intervals !== null) return intervals;
  const whose = swift === undefined ? partitioner.kind : 'Swift';
  throw unfit(state, `its partitions are those of ${whose}`, {
    hint:
      'only rings of hash-intervals, ranges, and md5-shift without prefix and suffix can be ' +
      'split and merged',
    details: { partitioner: partitioner.kind },
  });
}

export function unfit(
  { ring }: Pick<BuilderState, 'ring'>,
  reason: string,
  options: { readonly hint: string; readonly details: Readonly<Record<string, unknown>> },
): CodedError {
  return new CodedError('RESHAPE_UNFIT', `${ring} cannot be split or merged: ${reason}`, options);
}
