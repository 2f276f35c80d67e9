// Chooses the next fault: one of those that happened least so far.
import { pick, type Random } from '@ringwright/base/random';
import type { Stage } from '../stage.ts';

export function leastOf<T>(
  { faults }: Pick<Stage, 'faults'>,
  from: readonly T[],
  { nameOf, random }: { readonly nameOf: (one: T) => string; readonly random: Random },
): T {
  const countOf = (one: T): number => faults.filter(({ name }) => name === nameOf(one)).length;
  const fewest = Math.min(...from.map(countOf));
  return pick(
    random,
    from.filter((one) => countOf(one) === fewest),
  );
}
