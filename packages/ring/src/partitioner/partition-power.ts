// Splits or merges all partitions at once, to another power of two in the same domain. Pure.
import { hashCuts } from './hash-ends.ts';
import type { IntervalPartitioner } from './partitioner.ts';
import { type Entry, entriesOf, withEntries } from './reshape.ts';

/**
 * Returns the partitioner with `factor` times as many intervals: a factor above 1 cuts each into
 * equal parts, one below 1 joins neighbors. `factor` is a power of two, such as 4 or 1/2. Returns
 * null when an interval has fewer hashes than parts. Throws VALUE_OUT_OF_RANGE beyond
 * partitionCountMax ids.
 */
export function timesIntervals(
  partitioner: IntervalPartitioner,
  factor: number,
): IntervalPartitioner | null {
  if (factor === 1) return partitioner;
  const entries = entriesOf(partitioner);
  const borders = factor > 1 ? cutBorders(entries, factor) : keptBorders(entries, 1 / factor);
  if (borders === null) return null;
  const { partitions } = partitioner;
  const children = borders.map((border, index) => ({ id: partitions + index, border }));
  return withEntries(partitioner, children, partitions + children.length);
}

function cutBorders(entries: readonly Entry[], parts: number): Entry['border'][] | null {
  const borders: Entry['border'][] = [];
  for (const [index, { border }] of entries.entries()) {
    const cuts = hashCuts(
      { start: Number(entries.at(index - 1)?.border), end: Number(border) },
      parts,
    );
    if (cuts.length < parts - 1) return null;
    // No spread argument: a call does not accept millions of arguments.
    for (const cut of cuts) borders.push(cut);
    borders.push(border);
  }
  return borders;
}

/**
 * Chooses borders so that equal intervals become the equal intervals of half the number. Those end
 * at 0, or just before it.
 */
function keptBorders(entries: readonly Entry[], group: number): Entry['border'][] {
  const keptIndex = entries[0]?.border === 0 ? 0 : group - 1;
  return entries.filter((_, index) => index % group === keptIndex).map(({ border }) => border);
}
