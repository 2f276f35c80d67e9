// A seeded generator (sfc32, Chris Doty-Humphrey's PractRand): a seed gives the same numbers on
// every machine.

export interface Random {
  /** A whole number in [0, 2^32). */
  next(): number;
  /** A whole number in [0, bound), bound <= 2^32. */
  below(bound: number): number;
}

export function seededRandom(seed: number): Random {
  let a = seed | 0;
  let b = 0x9e3779b9;
  let c = 0x243f6a88;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i += 1) next();
  return { next, below: (bound) => Math.floor((next() / 2 ** 32) * bound) };
}

/** Picks one of the items. */
export function pick<T>(random: Random, from: readonly T[]): T {
  const picked = from[random.below(from.length)];
  if (picked === undefined) throw new Error('nothing to pick from');
  return picked;
}
