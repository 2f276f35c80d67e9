// The splits and merges that lead from one version's intervals to those of another, as typed. Pure.
import { positionText } from '@ringwright/ring/partitioner/hash-ends';
import type { IntervalPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { entriesOf, idAt } from '@ringwright/ring/partitioner/reshape';

/**
 * Each is right for the intervals as they are now: after one of them ids are others. The borders
 * come back so, the ids never.
 */
export function intervalChanges(
  ring: string,
  { is, wanted }: { readonly is: IntervalPartitioner; readonly wanted: IntervalPartitioner },
): string[] {
  const [now, then] = [entriesOf(is), entriesOf(wanted)];
  const there = new Set(now.map(({ border }) => border));
  const kept = new Set(then.map(({ border }) => border));
  const isRange = is.kind === 'ranges';
  const merges = now.flatMap(({ id, border }, index) => {
    const beside = isRange ? now[index - 1] : now[(index + 1) % now.length];
    if (kept.has(border) || beside === undefined) return [];
    const pair = isRange ? [beside.id, id] : [id, beside.id];
    return [`ring-builder merge ${ring} ${pair.join(' ')}`];
  });
  const splits = then.flatMap(({ border }) => {
    if (there.has(border)) return [];
    const at = typeof border === 'number' ? positionText(border) : border;
    return [`ring-builder split ${ring} ${idAt(is, border)} --at ${at}`];
  });
  return [...merges, ...splits];
}
