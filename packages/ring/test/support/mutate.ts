// Damages bytes as disks, networks and attackers do: flips, noise, cuts, gaps, inserts, zeros and
// wrong lengths.
import type { Random } from '@ringwright/base/random';

/** Returns a damaged copy, which always differs from the given bytes. */
export function mutantOf(bytes: Uint8Array, random: Random): Buffer {
  const whole = Buffer.from(bytes);
  for (;;) {
    const mutant = mutateOnce(whole, random);
    if (!mutant.equals(whole)) return mutant;
  }
}

function mutateOnce(whole: Buffer, random: Random): Buffer {
  const at = random.below(whole.length);
  const length = 1 + random.below(Math.min(64, whole.length - at));
  const [before, after] = [whole.subarray(0, at), whole.subarray(at + length)];
  const noise = Buffer.from(Array.from({ length }, () => random.below(256)));
  switch (random.below(7)) {
    case 0: {
      const flipped = Buffer.from(whole);
      flipped[at] = (whole[at] ?? 0) ^ (1 << random.below(8));
      return flipped;
    }
    case 1:
      return Buffer.concat([before, noise, after]);
    case 2:
      return Buffer.from(before);
    case 3:
      return Buffer.concat([before, after]);
    case 4:
      return Buffer.concat([whole.subarray(0, at), noise, whole.subarray(at)]);
    case 5:
      return Buffer.concat([before, Buffer.alloc(length), after]);
    default: {
      // Changes one number of the prefix: parsers trust lengths too early.
      const edited = Buffer.from(whole);
      edited.writeUInt32BE(random.below(2 ** 31), 4 * random.below(5));
      return edited;
    }
  }
}
