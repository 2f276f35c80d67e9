// Partition sizes in a builder state: rounded to levels, so that they are short. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { measuredPartitionsMax, sizeLevelMax } from '@ringwright/base/limits-rings';
import type { PartitionSizes } from './builder-state.ts';

/**
 * `bytes`: by partition id, null where no server reported a size. Throws VALUE_OUT_OF_RANGE when
 * there are too many partitions.
 */
export function partitionSizes(
  bytes: readonly (number | null)[],
  measured: Pick<PartitionSizes, 'measuredHour' | 'swapBudget'>,
): PartitionSizes {
  if (bytes.length > measuredPartitionsMax) {
    const message = `sizes of ${bytes.length} partitions, at most ${measuredPartitionsMax}`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, {
      hint: 'omit --balance bytes: a ring of this size can only be balanced by counts',
      details: { partitions: bytes.length, max: measuredPartitionsMax },
    });
  }
  const largest = bytes.reduce<number>((most, one) => Math.max(most, one ?? 0), 0);
  const unit = Math.max(1, Math.ceil(largest / sizeLevelMax));
  const levels = bytes.map((one) => (one === null ? null : Math.round(one / unit)));
  return { ...measured, unit, levels };
}

/** Returns the level of each partition. Partitions without a reported size get the mean level. */
export function levelsOf({ levels }: PartitionSizes, partitions: number): Uint16Array {
  const known = levels.filter((level) => level !== null);
  const sum = known.reduce((total, level) => total + level, 0);
  const mean = known.length === 0 ? 0 : Math.round(sum / known.length);
  return Uint16Array.from({ length: partitions }, (_, partition) => levels[partition] ?? mean);
}
