// Clocks that jump, stand still, or are an hour behind or ahead, also while the server is down.
import { pick, type Random } from '@ringwright/base/random';
import type { Control } from '../control.ts';
import { lasts, type Nemesis } from '../nemesis.ts';

/** Any two of these clocks differ by less than a stamp may be ahead. */
const OFFSET_MS_MAX = 25_000;
const HOUR_MS = 3_600_000;
const SKEW_MS_MAX = 6_000;
const SKEW_MS_MIN = 500;
const STANDSTILL_EVERY = 5;

export const clock: Nemesis = {
  name: 'clocks',
  async strike(stage, random, signal) {
    if (random.below(STANDSTILL_EVERY) === 0) return standstill.strike(stage, random, signal);
    const { name, wrong } = pick(random, skews)(random);
    // Two clocks an hour ahead, in the memory of a third server, could be a majority of the clocks
    // it knows. So only one victim may be ahead.
    const isAhead = wrong.clockOffsetMs === HOUR_MS;
    const victim = pick(random, isAhead ? stage.victims.slice(0, 1) : stage.victims);
    const withRestart = random.below(2) === 0;
    await stage.fault(`clock ${name}`, [victim], async () => {
      victim.set(wrong);
      await lasts(SKEW_MS_MIN + random.below(SKEW_MS_MAX), signal);
      if (withRestart) {
        await victim.end('kill');
        // A clock that stands still shows the same time after the restart. A clock far ahead then
        // starts without having heard of a correct one.
        const isStillWrong = wrong.clockStandsAtMs !== null || wrong.clockOffsetMs === HOUR_MS;
        if (!isStillWrong) victim.set(jumps(random).wrong);
        await victim.start();
        await lasts(SKEW_MS_MIN + random.below(SKEW_MS_MAX), signal);
      }
      victim.set({ clockStandsAtMs: null, clockOffsetMs: random.below(2) * offset(random) });
    });
  },
};

/** All clocks stand still, and show the same time again after all servers were killed. */
export const standstill: Nemesis = {
  name: 'clocks that stand still',
  async strike(stage, random, signal) {
    const { victims } = stage;
    await stage.fault('clocks of all stand still', victims, async () => {
      const clockStandsAtMs = Date.now();
      for (const victim of victims) victim.set({ clockOffsetMs: 0, clockStandsAtMs });
      await lasts(SKEW_MS_MIN + random.below(SKEW_MS_MAX), signal);
      await Promise.all(victims.map((victim) => victim.end('kill')));
      await Promise.all(victims.map((victim) => victim.start()));
      await lasts(SKEW_MS_MIN + random.below(SKEW_MS_MAX), signal);
      for (const victim of victims) victim.set({ clockStandsAtMs: null });
    });
  },
};

interface Skew {
  readonly name: string;
  readonly wrong: Pick<Control, 'clockOffsetMs' | 'clockStandsAtMs'>;
}

const skews: readonly ((random: Random) => Skew)[] = [
  jumps,
  jumps,
  () => ({ name: 'stands still', wrong: { clockOffsetMs: 0, clockStandsAtMs: Date.now() } }),
  () => skewed('an hour behind', -HOUR_MS),
  () => skewed('an hour ahead', HOUR_MS),
];

function jumps(random: Random): Skew {
  return skewed('jumps', offset(random));
}

function skewed(name: string, clockOffsetMs: number): Skew {
  return { name, wrong: { clockOffsetMs, clockStandsAtMs: null } };
}

function offset(random: Random): number {
  return random.below(2 * OFFSET_MS_MAX) - OFFSET_MS_MAX;
}
