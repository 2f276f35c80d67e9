// Proposes splits of large or busy partitions, and merges of small neighbors. Pure.
import { intervalsOf } from '@ringwright/ring/partitioner/intervals-of';
import { keyText } from '@ringwright/ring/partitioner/key-text';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type {
  IntervalPartitioner,
  RangesPartitioner,
} from '@ringwright/ring/partitioner/partitioner';

export interface SplitLimits {
  /** A partition with more bytes is split. */
  readonly above: number;
  /** Two neighbors are merged when both have fewer bytes; at most an eighth of `above`. */
  readonly below: number;
  /**
   * Also splits partitions with more requests per second than both `least` and `times` the mean.
   */
  readonly busy: { readonly times: number; readonly least: number };
  /** Maximum number of proposals for one version. */
  readonly most: number;
}

/** Loads that servers reported; null where none did. */
interface KnownLoad {
  readonly bytesOf: (partition: number) => number | null;
  /** Null also until servers have counted for long enough. */
  readonly rateOf: (partition: number) => number | null;
}

export type ReshapeProposal =
  | {
      readonly kind: 'split';
      readonly partition: number;
      readonly bytes: number;
      /** Requests per second, and the mean of all partitions; null: it is split for its size. */
      readonly busy: { readonly rate: number; readonly mean: number } | null;
    }
  | {
      readonly kind: 'merge';
      readonly partitions: readonly [number, number];
      readonly bytes: number;
    };

/** Maximum of `below` relative to `above`: half of a split partition is four times as large. */
export const mergeShareMax = 1 / 8;

/**
 * Returns the largest partitions first, then the busiest, then merges of the smallest. No proposal
 * is reversed later: half of a split partition is not small, and a merged partition is not large,
 * also together with its neighbor. Neighbors are not merged when their combined rate is above half
 * of the splitting threshold or unknown.
 */
export function proposeSplits(
  partitioner: IntervalPartitioner,
  { bytesOf, rateOf }: KnownLoad,
  { above, below, busy, most }: SplitLimits,
): ReshapeProposal[] {
  const sized = intervalsOf(partitioner).map(({ id }) => {
    return { id, bytes: bytesOf(id), rate: rateOf(id) };
  });
  const known = sized.flatMap(({ rate }) => rate ?? []);
  const mean = known.reduce((sum, rate) => sum + rate, 0) / Math.max(known.length, 1);
  const busyFrom = Math.max(busy.least, busy.times * mean);
  const split = ({ id, bytes, rate }: (typeof sized)[number], isBusy: boolean) =>
    ({
      kind: 'split',
      partition: id,
      bytes: bytes ?? 0,
      busy: isBusy ? { rate: rate ?? 0, mean } : null,
    }) as const;
  const large = sized
    .filter(({ bytes }) => bytes !== null && bytes > above)
    .map((one) => split(one, false))
    .sort((a, b) => b.bytes - a.bytes);
  const hot = sized
    .filter(({ bytes, rate }) => bytes !== null && bytes <= above && (rate ?? 0) > busyFrom)
    .sort((a, b) => (b.rate ?? 0) - (a.rate ?? 0))
    .map((one) => split(one, true));
  const merges: Extract<ReshapeProposal, { kind: 'merge' }>[] = [];
  for (const partitions of smallNeighbours(partitioner, bytesOf, below)) {
    const [one, other] = partitions;
    const [rate, otherRate] = [rateOf(one), rateOf(other)];
    if (rate === null || otherRate === null || rate + otherRate > busyFrom / 2) continue;
    if (merges.at(-1)?.partitions[1] === one) continue;
    const bytes = (bytesOf(one) ?? 0) + (bytesOf(other) ?? 0);
    merges.push({ kind: 'merge', partitions, bytes });
  }
  merges.sort((a, b) => a.bytes - b.bytes);
  return [...large, ...hot, ...merges].slice(0, most);
}

/**
 * Returns pairs of small neighbors in order, whatever their requests. The middle one of three
 * neighbors is in two pairs.
 */
export function smallNeighbours(
  partitioner: IntervalPartitioner,
  bytesOf: KnownLoad['bytesOf'],
  below: number,
): (readonly [number, number])[] {
  const ids = intervalsOf(partitioner).map(({ id }) => id);
  const isSmall = ids.map((id) => (bytesOf(id) ?? below) < below);
  return ids.flatMap((id, index) => {
    const next = ids[index + 1];
    return next !== undefined && isSmall[index] && isSmall[index + 1] ? [[id, next] as const] : [];
  });
}

interface CutsAhead {
  readonly partition: number;
  /** Keys with which its later parts begin. */
  readonly at: readonly string[];
}

/** Returns the cuts that do not exist yet, by the partition that they cut. */
export function cutsAhead(partitioner: RangesPartitioner, keys: readonly string[]): CutsAhead[] {
  const partitionOf = partitionerOf(partitioner);
  const existingStarts = new Set(partitioner.starts);
  const cuts = new Map<number, string[]>();
  for (const key of new Set(keys)) {
    const bytes = Buffer.from(key);
    const start = keyText(bytes);
    if (existingStarts.has(start)) continue;
    const partition = partitionOf(bytes);
    cuts.set(partition, [...(cuts.get(partition) ?? []), start]);
  }
  return [...cuts].map(([partition, at]) => ({ partition, at }));
}
