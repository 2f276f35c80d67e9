// Ranges of keys whose records are retired together, such as past months. Pure.
// One range without records replaces them, so that keys that arrive late still have a partition.
import { CodedError } from '@ringwright/base/coded-error';
import { quoteOption } from '@ringwright/base/quote-command';
import { keyOfText, keyText } from './key-text.ts';
import type { IntervalPartitioner, RangesPartitioner } from './partitioner.ts';
import { entriesOf, withEntries } from './reshape.ts';

/**
 * Returns the partitioner with one new range in place of all ranges before `key`. Throws
 * RETIRE_NOTHING when there are none.
 */
export function retireBefore(partitioner: RangesPartitioner, key: string): IntervalPartitioner {
  const { partitions, starts, retiredBefore: earlier } = partitioner;
  const bound = keyOfText(key);
  const retiredStarts = starts.filter((start) => Buffer.compare(keyOfText(start), bound) <= 0);
  const retiredBefore = retiredStarts.at(-1);
  if (retiredBefore === undefined || retiredBefore === earlier) throw nothing(partitioner, key);
  const liveEntries = entriesOf(partitioner).slice(retiredStarts.length);
  const entries = [{ id: partitions, border: '' }, ...liveEntries];
  return withEntries({ ...partitioner, retiredBefore }, entries, partitions + 1);
}

function nothing({ starts, retiredBefore }: RangesPartitioner, key: string): CodedError {
  const boundText = keyText(keyOfText(key));
  const next = starts.find((start) => start !== retiredBefore);
  const firstText = next === undefined ? 'has no end' : `ends before ${next}`;
  const retiredText =
    retiredBefore === undefined ? '' : `everything before ${retiredBefore} is retired; `;
  const ranges = `${retiredText}the first one ${firstText}`;
  const message = `no range ends at or before ${boundText}: ${ranges}`;
  const isPast = retiredBefore !== undefined && boundText <= retiredBefore;
  return new CodedError('RETIRE_NOTHING', message, {
    hint: isPast
      ? 'name a later key: ring-builder table RING lists the ranges'
      : `ring-builder split RING PARTITION ${quoteOption('at', boundText)} first, or name a later key`,
    details: { before: boundText, firstEnd: next ?? null },
  });
}
