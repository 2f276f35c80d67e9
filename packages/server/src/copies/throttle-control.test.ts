// Tests the control law of the throttle: in single rounds, in closed loops with a simulated device
// that copies slow down, and on arbitrary samples.
import {
  calmP99MsUnknown,
  copiesInMax,
  copyCooldownMsMax,
  copyCooldownTimesMax,
  copyRateFloor,
  copyRateFree,
  foregroundP99MsMax,
  loopDelayMsMax,
  throttleCalmRounds,
  throttleWindowRounds,
} from '@ringwright/base/limits-copies';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cooldownMs,
  freeThrottle,
  nextThrottle,
  type ThrottleSample,
  type ThrottleState,
} from './throttle-control.ts';

const MIB = 1024 * 1024;
const calm: ThrottleSample = {
  ...{ p99Ms: 4, areUnderWay: false, loopDelayMs: 1 },
  ...{ copiedBytesPerSecond: 0, hasDrained: false },
};
const stressed: ThrottleSample = { ...calm, p99Ms: 120, copiedBytesPerSecond: 80 * MIB };

function after(
  samples: readonly ThrottleSample[],
  state: ThrottleState = freeThrottle,
): ThrottleState {
  return samples.reduce(nextThrottle, state);
}

describe('one round adjusts the throttle', () => {
  test('copies are not limited while no request is known to be slow', () => {
    expect(after([calm, { ...stressed, p99Ms: foregroundP99MsMax }]).rate).toBeNull();
    expect(after([{ ...stressed, p99Ms: 2 * calmP99MsUnknown }]).rate, 'no known calm').toBeNull();
    expect(after([{ ...stressed, p99Ms: null }]).rate).toBeNull();
  });

  test('slow requests or a late event loop halve the rate that was reached', () => {
    expect(after([stressed]).rate).toBe(40 * MIB);
    const slow = { ...stressed, p99Ms: foregroundP99MsMax + 1 };
    expect(after([calm, slow]).rate).toBe(40 * MIB);
    const late = { ...stressed, p99Ms: null, loopDelayMs: loopDelayMsMax + 1 };
    expect(after([late]).rate).toBe(40 * MIB);
  });

  test('the rate is halved again only on measurements made after the last halving', () => {
    const turns = Array<ThrottleSample>(throttleWindowRounds).fill(stressed);
    expect(after(turns).rate).toBe(40 * MIB);
    expect(after([...turns, stressed]).rate).toBe(20 * MIB);
  });

  test('copies are not limited if requests are as slow without them', () => {
    const slow = Array<ThrottleSample>(40).fill({ ...calm, p99Ms: 60 });
    expect(after([...slow, { ...stressed, p99Ms: 110 }]).rate).toBeNull();
    expect(after([...slow, { ...stressed, p99Ms: 130 }]).rate).toBe(40 * MIB);
    const late = Array<ThrottleSample>(40).fill({ ...calm, loopDelayMs: 150 });
    const lateToo = { ...stressed, p99Ms: null, loopDelayMs: 280 };
    expect(after([...late, lateToo]).rate).toBeNull();
    expect(after([...late, { ...lateToo, loopDelayMs: 310 }]).rate).toBe(40 * MIB);
  });

  test('slow requests without copies change nothing', () => {
    expect(after([{ ...stressed, copiedBytesPerSecond: 0 }]).rate).toBeNull();
  });

  test('a short gap between copies does not count as calm, and a long gap does', () => {
    const turns = (count: number, sample: ThrottleSample): ThrottleSample[] =>
      Array(count).fill(sample);
    const slow = after([...turns(5, calm), ...turns(4 * throttleWindowRounds, stressed)]);
    expect([slow.loads, slow.calmP99Ms]).toEqual([1, calm.p99Ms]);
    const backlog = { ...stressed, copiedBytesPerSecond: 0 };
    expect(after(turns(throttleCalmRounds - 1, backlog), slow)).toMatchObject({
      ...{ rate: slow.rate, cooldownTimes: slow.cooldownTimes, loads: 1, calmP99Ms: calm.p99Ms },
    });
    const longAfter = after(turns(2 * throttleCalmRounds, backlog), slow);
    expect(longAfter.calmP99Ms, 'requests are this slow without copies').toBeGreaterThan(50);
  });

  test('copies begin one at a time if there are requests, else all at once', () => {
    expect(after([calm]).loads).toBe(1);
    expect(after([{ ...calm, p99Ms: null }]).loads).toBeNull();
    expect(after([calm, { ...stressed, p99Ms: 5 }]).loads).toBe(2);
  });
});

describe('the number of files at once follows the requests', () => {
  const window = (sample: ThrottleSample): ThrottleSample[] =>
    Array(throttleWindowRounds).fill(sample);
  const at = (samples: readonly ThrottleSample[]): (number | null)[] => {
    const { loads, cooldownTimes } = after(samples);
    return [loads, cooldownTimes];
  };

  test('slow requests halve the number down to one, then double the cooldown', () => {
    const counts = [1, 2, 3, 4, 5, 6, 20];
    const steps = counts.map((count) => at(Array(count).fill(window(stressed)).flat()));
    expect(steps).toEqual([
      [copiesInMax / 2, 0],
      [copiesInMax / 4, 0],
      [copiesInMax / 8, 0],
      [1, 0],
      [1, 1],
      [1, 2],
      [1, copyCooldownTimesMax],
    ]);
  });

  test('fast requests shorten the cooldown first, then add one file per round', () => {
    const slow = Array(6).fill(window(stressed)).flat();
    const well = { ...stressed, p99Ms: 4 };
    const turns = Array.from({ length: copiesInMax + 4 }, (_, count) =>
      at([...slow, ...Array(count).fill(well)]),
    );
    const pauses = turns.map(([, cooldownTimes]) => Math.round(10 * (cooldownTimes ?? 0)));
    expect(pauses).toEqual([20, 16, 13, 10, ...Array<number>(copiesInMax).fill(0)]);
    const rising = Array.from({ length: copiesInMax - 2 }, (_, count) => count + 2);
    expect(turns.map(([loads]) => loads)).toEqual([1, 1, 1, 1, 1, ...rising, null]);
  });

  test('where a file costs 12 ms of p99, more than one runs and p99 stays within bounds', () => {
    let state = nextThrottle(freeThrottle, calm);
    let [ran, worse] = [0, 0];
    for (let turn = 0; turn < 300; turn += 1) {
      const loads = (state.loads ?? copiesInMax) / (1 + state.cooldownTimes);
      const p99Ms = 4 + 12 * loads;
      state = nextThrottle(state, { ...calm, p99Ms, copiedBytesPerSecond: loads * MIB });
      if (turn < 20) continue;
      ran += loads;
      worse += p99Ms > 2 * foregroundP99MsMax ? 1 : 0;
    }
    expect(worse).toBe(0);
    expect(ran / 280).toBeGreaterThan(1);
  });
});

test('copies are not limited without requests, unless the event loop is late', () => {
  const copying: ThrottleSample = { ...calm, p99Ms: null, copiedBytesPerSecond: 80 * MIB };
  const held: ThrottleState = { ...freeThrottle, rate: MIB, loads: 1, cooldownTimes: 2 };
  const free = { rate: null, loads: null, cooldownTimes: 0 };
  expect(after([copying], held)).toMatchObject(free);
  const late = { ...copying, loopDelayMs: loopDelayMsMax + 1 };
  expect(after([late], held)).toMatchObject({ loads: 1, cooldownTimes: 4 });
  expect(after([late, copying], held)).toMatchObject(free);
  const hanging = { ...copying, areUnderWay: true };
  expect(after([hanging], held), 'some requests are in flight').toMatchObject({ loads: 1 });
});

test('where requests bear 30 MiB/s, copies average over 18 and mostly stay below 30', () => {
  let state = nextThrottle(freeThrottle, calm);
  let copied = 0;
  let worse = 0;
  const turns = 300;
  for (let turn = 0; turn < turns; turn += 1) {
    const rate = Math.min(state.rate ?? 200 * MIB, 200 * MIB);
    const suffers = rate > 30 * MIB;
    state = nextThrottle(state, { ...calm, p99Ms: suffers ? 80 : 8, copiedBytesPerSecond: rate });
    if (turn < 20) continue;
    copied += rate;
    worse += suffers ? 1 : 0;
  }
  expect(worse / turns).toBeLessThan(0.45);
  expect(copied / (turns - 20)).toBeGreaterThan(18 * MIB);
  for (let turn = 0; turn < 120; turn += 1) state = nextThrottle(state, calm);
  expect(state.rate, 'the rate has recovered').toBeNull();
});

const samples = fc.array(
  fc.record({
    p99Ms: fc.option(fc.double({ min: 0, max: 1_000, noNaN: true })),
    areUnderWay: fc.boolean(),
    loopDelayMs: fc.double({ min: 0, max: 300, noNaN: true }),
    hasDrained: fc.boolean(),
    copiedBytesPerSecond: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 31 })),
  }),
);

test('for any samples, the rate and the cooldown stay within their limits', () => {
  fc.assert(
    fc.property(samples, (all) => {
      let state = freeThrottle;
      for (const sample of all) {
        const next = nextThrottle(state, sample);
        expect(next.rate ?? copyRateFloor).toBeGreaterThanOrEqual(copyRateFloor);
        expect(next.rate ?? 0).toBeLessThan(Math.max(copyRateFree, 2 ** 30 + 1));
        if (next.rate !== null && state.rate !== null && next.rate < state.rate) {
          expect(sample.copiedBytesPerSecond, 'only copies are slowed down').toBeGreaterThan(0);
        }
        expect(next.cooldownTimes).toBeLessThanOrEqual(copyCooldownTimesMax);
        if (next.cooldownTimes > 0) expect(next.loads, 'one at a time').toBe(1);
        expect(cooldownMs(next, 3_600_000)).toBeLessThanOrEqual(copyCooldownMsMax);
        state = next;
      }
    }),
  );
});
