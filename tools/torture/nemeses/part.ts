// Network partitions: servers that reach some servers and not others, in one or both directions.
import type { Random } from '@ringwright/base/random';
import { lasts, type Nemesis } from '../nemesis.ts';
import type { LinkRule } from '../network.ts';
import type { Stage } from '../stage.ts';

/** Longer than the time in which a connection's pings must be answered. */
const PART_MS_MAX = 9_000;
const PART_MS_MIN = 500;
const DELAY_MS_MAX = 300;
const SHAPES = ['one alone', 'halves', 'one deaf', 'one mute', 'some links', 'slow links'] as const;

export const part: Nemesis = {
  name: 'network partitions',
  async strike(stage, random, signal) {
    const shape = SHAPES[random.below(SHAPES.length)] ?? 'halves';
    await stage.fault(`part: ${shape}`, [], async () => {
      const links = linksOf(stage, shape, random);
      const rule: Partial<LinkRule> =
        shape === 'slow links' ? { delayMs: 1 + random.below(DELAY_MS_MAX) } : { held: true };
      for (const [from, to] of links) stage.network.rule(from, to, rule);
      await lasts(PART_MS_MIN + random.below(PART_MS_MAX), signal);
      // Held bytes arrive late, or never.
      const isLost = random.below(2) === 0;
      if (isLost) for (const [from, to] of links) stage.network.reset(from, to);
      stage.network.heal();
    });
  },
};

/** Returns the directions that the shape affects. */
function linksOf(
  { victims }: Stage,
  shape: (typeof SHAPES)[number],
  random: Random,
): (readonly [from: number, to: number])[] {
  const numbers = victims.map((_, number) => number);
  const lone = random.below(numbers.length);
  const side = new Set(numbers.filter(() => random.below(2) === 0));
  const isHit = (from: number, to: number): boolean => {
    switch (shape) {
      case 'one alone':
        return from === lone || to === lone;
      case 'one deaf':
        return to === lone;
      case 'one mute':
        return from === lone;
      case 'halves':
        return side.has(from) !== side.has(to);
      case 'some links':
      case 'slow links':
        return random.below(2) === 0;
    }
  };
  return numbers.flatMap((from) =>
    numbers.filter((to) => from !== to && isHit(from, to)).map((to) => [from, to] as const),
  );
}
