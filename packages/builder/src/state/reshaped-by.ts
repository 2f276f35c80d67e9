// The intervals that a ring has when a partition is split, or two are merged. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { type IntervalPartitioner, isIntervals } from '@ringwright/ring/partitioner/partitioner';
import { mergeIntervals, splitInterval } from '@ringwright/ring/partitioner/reshape';
import type { BuilderState } from './builder-state.ts';
import type { Change } from './change.ts';

type ReshapeChange = Extract<Change, { kind: 'split' | 'merge' }>;

/** Throws RESHAPE_UNFIT, SPLIT_OUTSIDE, MERGE_NOT_ADJACENT, VALUE_OUT_OF_RANGE. */
export function reshapedBy(state: BuilderState, change: ReshapeChange): IntervalPartitioner {
  const partitioner = requireIntervals(state);
  const { replicas, pins = [] } = state;
  if (!Number.isInteger(replicas)) {
    throw unfit(state, `it has ${replicas} replicas, which is no whole number`, {
      hint: `ring-builder set ${state.ring} --replicas ${Math.ceil(replicas)}, and a rollout first`,
      details: { replicas },
    });
  }
  const parents = change.kind === 'split' ? [change.partition] : change.partitions;
  const pinned = pins.find(({ partition }) => parents.includes(partition));
  if (pinned !== undefined) {
    throw unfit(state, `partition ${pinned.partition} is pinned`, {
      hint: `ring-builder unpin ${state.ring} ${pinned.partition}`,
      details: { partition: pinned.partition },
    });
  }
  if (change.kind === 'split') return splitInterval(partitioner, change.partition, change.at);
  return mergeIntervals(partitioner, ...change.partitions);
}

/** Throws RESHAPE_UNFIT for a ring whose partitions are no intervals. */
export function requireIntervals(state: BuilderState): IntervalPartitioner {
  const { partitioner } = state;
  if (isIntervals(partitioner)) return partitioner;
  throw unfit(state, `its partitions are those of ${partitioner.kind}`, {
    hint: 'rings of hash-intervals and of ranges can be split and merged',
    details: { partitioner: partitioner.kind },
  });
}

export function unfit(
  { ring }: Pick<BuilderState, 'ring'>,
  why: string,
  more: { readonly hint: string; readonly details: Readonly<Record<string, unknown>> },
): CodedError {
  return new CodedError('RESHAPE_UNFIT', `${ring} cannot be split or merged: ${why}`, more);
}
