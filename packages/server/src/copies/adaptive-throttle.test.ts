// What an operator allows and what requests bear: the lower is in force, in both directions.
import {
  copyLoanMs,
  copyLoansMax,
  copyRateFloor,
  throttleRequestsMin,
  throttleWindowTurns,
} from '@ringwright/base/limits-copies';
import { expect, test } from 'vitest';
import { AdaptiveThrottle } from './adaptive-throttle.ts';

const MIB = 1024 * 1024;

/** A clock that the test moves, and requests that take as long as it says. */
class World {
  ms = 0;
  loopDelayMs = 0;
  readonly pace: AdaptiveThrottle;

  constructor(rate: number | null) {
    const loopDelayMs = (): number => this.loopDelayMs;
    const ports = { monotonicMs: () => this.ms, loopDelayMs, idleShare: () => 1 };
    this.pace = new AdaptiveThrottle(ports, rate);
  }

  async turn(requestMs: number, copiedBytes: number): Promise<void> {
    for (let count = 0; count < throttleRequestsMin; count += 1) {
      let done = (): void => undefined;
      const request = this.pace.timed(new Promise<void>((resolve) => void (done = resolve)));
      this.ms += requestMs;
      done();
      await request;
    }
    this.pace.taken.setRate(null);
    await this.pace.taken.pass(copiedBytes);
    this.pace.turn();
  }
}

test('without a word nothing is held back; what the server was started with is', () => {
  expect(new World(null).pace.status()).toMatchObject({ allowed: null, inForce: null });
  expect(new World(5 * MIB).pace.status()).toMatchObject({ allowed: 5 * MIB, inForce: 5 * MIB });
});

test('an operator changes it while it runs; null brings back what it was started with', () => {
  const { pace } = new World(5 * MIB);
  pace.allow(MIB);
  expect(pace.status()).toMatchObject({ allowed: MIB, inForce: MIB });
  pace.allow(null);
  expect(pace.status()).toMatchObject({ allowed: 5 * MIB, inForce: 5 * MIB });
});

test('what a rollout lends ends by itself, and is then the rate of before', () => {
  const world = new World(5 * MIB);
  const { pace } = world;
  const allowed = () => [pace.status().allowed, pace.status().lentMs];
  pace.allow(2 * MIB);
  pace.lend('a', 9 * MIB);
  expect(allowed()).toEqual([9 * MIB, copyLoanMs]);
  world.ms += copyLoanMs - 1;
  expect(allowed()).toEqual([9 * MIB, 1]);
  pace.lend('a', 9 * MIB);
  world.ms += copyLoanMs - 1;
  expect(allowed(), 'said again').toEqual([9 * MIB, 1]);
  world.ms += 1;
  expect(allowed(), 'it was killed').toEqual([2 * MIB, null]);
  pace.turn();
  expect(pace.status().inForce).toBe(2 * MIB);
});

test('rollouts that overlap: the lowest counts, and none gives back what another lends', () => {
  const { pace } = new World(null);
  const allowed = () => pace.status().allowed;
  pace.lend('a', 9 * MIB);
  pace.lend('b', 7 * MIB);
  expect(allowed()).toBe(7 * MIB);
  pace.lend('a', 9 * MIB);
  expect(allowed()).toBe(7 * MIB);
  pace.lend('a', null);
  expect(allowed()).toBe(7 * MIB);
  pace.lend('b', null);
  expect(pace.status()).toMatchObject({ allowed: null, lentMs: null, inForce: null });
});

test('what an operator says meanwhile counts more, as long as that rollout lends', () => {
  const { pace } = new World(null);
  pace.lend('a', 50 * MIB);
  pace.allow(MIB);
  pace.lend('a', 50 * MIB);
  expect(pace.status()).toMatchObject({ allowed: MIB, lentMs: null });
  pace.lend('b', 9 * MIB);
  expect(pace.status().allowed, 'a new word').toBe(9 * MIB);
});

test('loans are bounded; those that have ended leave room', () => {
  const world = new World(null);
  const lend = (name: string) => () => world.pace.lend(name, MIB);
  for (let count = 0; count < copyLoansMax; count += 1) lend(`${count}`)();
  expect(lend('one more')).toThrow(/at most 64/);
  lend('0')();
  world.ms += copyLoanMs;
  expect(lend('one more')).not.toThrow();
});

test('requests that suffer halve it; an operator may still allow less', async () => {
  const world = new World(null);
  for (let turn = 0; turn < 5; turn += 1) await world.turn(2, 0);
  await world.turn(100, 64 * MIB);
  expect(world.pace.status()).toMatchObject({ allowed: null, inForce: 32 * MIB });
  expect(world.pace.status().foregroundP99Ms).toBeGreaterThan(50);
  world.pace.allow(8 * MIB);
  expect(world.pace.status().inForce).toBe(8 * MIB);
  world.pace.allow(null);
  for (let turn = 0; turn < 100 * throttleWindowTurns; turn += 1) await world.turn(100, 64 * MIB);
  expect(world.pace.status().inForce, 'never below the floor').toBe(copyRateFloor);
  for (let turn = 0; turn < 100; turn += 1) await world.turn(2, 0);
  expect(world.pace.status().inForce).toBeNull();
});

test('a late event loop halves it too', async () => {
  const world = new World(null);
  world.loopDelayMs = 300;
  await world.turn(1, 10 * MIB);
  expect(world.pace.status().inForce).toBe(5 * MIB);
});
