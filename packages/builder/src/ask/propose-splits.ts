// Which partitions are large enough to be split, and which so small that two may be one. Pure.
import { intervalsOf } from '@ringwright/ring/partitioner/intervals-of';
import type { IntervalPartitioner } from '@ringwright/ring/partitioner/partitioner';

export interface SplitLimits {
  /** A partition with more bytes is split. */
  readonly above: number;
  /** Two neighbours that are both below it are merged: at most an eighth of `above`. */
  readonly below: number;
  /** Proposals for one version, at most. */
  readonly most: number;
}

export type ReshapeProposal =
  | { readonly kind: 'split'; readonly partition: number; readonly bytes: number }
  | {
      readonly kind: 'merge';
      readonly partitions: readonly [number, number];
      readonly bytes: number;
    };

/** `below` may be this part of `above`: a half that was split off is four times as large. */
export const mergeShareMax = 1 / 8;

/**
 * The largest first, then merges of the smallest. What is proposed does not come back: halves of
 * what was split are not small, and what was merged is not large, nor is it with its neighbour.
 */
export function proposeSplits(
  partitioner: IntervalPartitioner,
  bytesOf: (partition: number) => number | null,
  { above, below, most }: SplitLimits,
): ReshapeProposal[] {
  const sized = intervalsOf(partitioner).map(({ id }) => ({ id, bytes: bytesOf(id) }));
  const splits = sized
    .filter(({ bytes }) => bytes !== null && bytes > above)
    .map(({ id, bytes }) => ({ kind: 'split', partition: id, bytes: bytes ?? 0 }) as const)
    .sort((a, b) => b.bytes - a.bytes);
  const isSmall = (bytes: number | null): bytes is number => bytes !== null && bytes < below;
  const merges: ReshapeProposal[] = [];
  for (let index = 0; index + 1 < sized.length; index += 1) {
    const [one, other] = [sized[index], sized[index + 1]];
    if (one === undefined || other === undefined) break;
    if (!isSmall(one.bytes) || !isSmall(other.bytes)) continue;
    const bytes = one.bytes + other.bytes;
    merges.push({ kind: 'merge', partitions: [one.id, other.id], bytes });
    index += 1;
  }
  merges.sort((a, b) => a.bytes - b.bytes);
  return [...splits, ...merges].slice(0, most);
}
