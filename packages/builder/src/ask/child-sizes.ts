// How large the files of partitions will be that a plan makes of others. Pure.
import { asIntervals } from '@ringwright/ring/partitioner/as-intervals';
import { reshaping } from '@ringwright/ring/partitioner/reshape';
import type { Ring } from '@ringwright/ring/ring';
import { wantedIntervals } from '../plan/plan-reshape.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { KnownSizes } from './plan-traffic.ts';

/**
 * Each child has an equal part of what its parents have, unless it begins empty: on a device all of
 * them are written.
 */
export function withChildren<Known extends KnownSizes>(
  known: Known,
  head: Ring,
  state: BuilderState,
): Known {
  const [before, wanted] = [asIntervals(head.partitioner), wantedIntervals(head, state)];
  if (before === null || wanted === null) return known;
  const { parents, emptied } = reshaping(before, wanted);
  const parts = new Map<number, number>();
  for (const id of [...parents.values()].flat()) parts.set(id, (parts.get(id) ?? 0) + 1);
  const bytesOf = (child: number): number | null => {
    if (emptied.has(child)) return 0;
    const sizes = (parents.get(child) ?? []).map(known.partitionBytes);
    const some = sizes.filter((size) => size !== null);
    if (some.length < sizes.length) return null;
    const share = (id: number, index: number): number => (some[index] ?? 0) / (parts.get(id) ?? 1);
    return (parents.get(child) ?? []).reduce((sum, id, index) => sum + share(id, index), 0);
  };
  return {
    ...known,
    partitionBytes: (id) => (parents.has(id) ? bytesOf(id) : known.partitionBytes(id)),
  };
}
