// Fisher and Yates: every order is equally likely. Pure, except for the list and the random source.
import type { Random } from '@ringwright/base/random';

/** Shuffles in place and returns the list. */
export function shuffle(list: Int32Array, random: Random): Int32Array {
  for (let i = list.length - 1; i > 0; i -= 1) {
    const j = random.below(i + 1);
    const swapped = list[i]!;
    list[i] = list[j]!;
    list[j] = swapped;
  }
  return list;
}
