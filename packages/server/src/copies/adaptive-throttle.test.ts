// Tests the throttle of copies: the lower of what an operator or a rollout allows and what requests
// can bear is in force.
import {
  copyLoanMs,
  copyLoansMax,
  copyRateFloor,
  throttleRequestsMin,
  throttleWindowRounds,
} from '@ringwright/base/limits-copies';
import { expect, test } from 'vitest';
import { AdaptiveThrottle } from './adaptive-throttle.ts';

const MIB = 1024 * 1024;

/** A throttle with a simulated clock, and requests whose duration the test sets. */
class World {
  ms = 0;
  loopDelayMs = 0;
  /** The rate that the helper processes received last. */
  allowed: number | null = null;
  readonly throttle: AdaptiveThrottle;

  constructor(rate: number | null) {
    const loopDelayMs = (): number => this.loopDelayMs;
    const ports = {
      monotonicMs: () => this.ms,
      loopDelayMs,
      onAllowed: (rate: number | null) => void (this.allowed = rate),
    };
    this.throttle = new AdaptiveThrottle(ports, rate);
  }

  async turn(requestMs: number, copiedBytes: number): Promise<void> {
    for (let count = 0; count < throttleRequestsMin; count += 1) {
      let done = (): void => undefined;
      const request = this.throttle.timed(new Promise<void>((resolve) => void (done = resolve)));
      this.ms += requestMs;
      done();
      await request;
    }
    this.throttle.incoming.setRate(null);
    await this.throttle.incoming.pass(copiedBytes);
    this.throttle.round();
  }
}

test('the rate is unlimited unless the server was started with one', () => {
  expect(new World(null).throttle.status()).toMatchObject({ allowed: null, inForce: null });
  expect(new World(5 * MIB).throttle.status()).toMatchObject({
    allowed: 5 * MIB,
    inForce: 5 * MIB,
  });
});

test('an operator can change the rate, and null restores the rate of the start', () => {
  const { throttle } = new World(5 * MIB);
  throttle.allow(MIB);
  expect(throttle.status()).toMatchObject({ allowed: MIB, inForce: MIB });
  throttle.allow(null);
  expect(throttle.status()).toMatchObject({ allowed: 5 * MIB, inForce: 5 * MIB });
});

test('a loan ends by itself unless it is renewed, and the earlier rate applies again', () => {
  const world = new World(5 * MIB);
  const { throttle } = world;
  const allowed = () => [throttle.status().allowed, throttle.status().lentMs];
  throttle.allow(2 * MIB);
  throttle.lend('a', 9 * MIB);
  expect(allowed()).toEqual([9 * MIB, copyLoanMs]);
  world.ms += copyLoanMs - 1;
  expect(allowed()).toEqual([9 * MIB, 1]);
  throttle.lend('a', 9 * MIB);
  world.ms += copyLoanMs - 1;
  expect(allowed(), 'the loan was renewed').toEqual([9 * MIB, 1]);
  world.ms += 1;
  expect(allowed(), 'the loan has ended').toEqual([2 * MIB, null]);
  throttle.round();
  expect(throttle.status().inForce).toBe(2 * MIB);
});

test('of several loans the lowest counts, and the end of one does not end another', () => {
  const { throttle } = new World(null);
  const allowed = () => throttle.status().allowed;
  throttle.lend('a', 9 * MIB);
  throttle.lend('b', 7 * MIB);
  expect(allowed()).toBe(7 * MIB);
  throttle.lend('a', 9 * MIB);
  expect(allowed()).toBe(7 * MIB);
  throttle.lend('a', null);
  expect(allowed()).toBe(7 * MIB);
  throttle.lend('b', null);
  expect(throttle.status()).toMatchObject({ allowed: null, lentMs: null, inForce: null });
});

test("an operator's rate overrules present loans and their renewals, not later loans", () => {
  const { throttle } = new World(null);
  throttle.lend('a', 50 * MIB);
  throttle.allow(MIB);
  throttle.lend('a', 50 * MIB);
  expect(throttle.status()).toMatchObject({ allowed: MIB, lentMs: null });
  throttle.lend('b', 9 * MIB);
  expect(throttle.status().allowed, 'the later loan counts').toBe(9 * MIB);
});

test('the number of loans is limited, and ended loans do not count', () => {
  const world = new World(null);
  const lend = (name: string) => () => world.throttle.lend(name, MIB);
  for (let count = 0; count < copyLoansMax; count += 1) lend(`${count}`)();
  expect(lend('one more')).toThrow(/the maximum is 64/);
  lend('0')();
  world.ms += copyLoanMs;
  expect(lend('one more')).not.toThrow();
});

test('helper processes receive the allowed rate, and not the lower rate in force', async () => {
  const world = new World(50 * MIB);
  expect(world.allowed).toBe(50 * MIB);
  for (let round = 0; round < 8; round += 1) await world.turn(200, 40 * MIB);
  expect(world.throttle.status().inForce).toBeLessThan(50 * MIB);
  expect(world.allowed).toBe(50 * MIB);
  world.throttle.lend('a rollout', 9 * MIB);
  expect(world.allowed).toBe(9 * MIB);
  world.throttle.lend('a rollout', null);
  expect(world.allowed).toBe(50 * MIB);
});

test('slow requests halve the rate, and an operator may still allow less', async () => {
  const world = new World(null);
  for (let turn = 0; turn < 5; turn += 1) await world.turn(2, 0);
  await world.turn(100, 64 * MIB);
  expect(world.throttle.status()).toMatchObject({ allowed: null, inForce: 32 * MIB });
  expect(world.throttle.status().foregroundP99Ms).toBeGreaterThan(50);
  world.throttle.allow(8 * MIB);
  expect(world.throttle.status().inForce).toBe(8 * MIB);
  world.throttle.allow(null);
  for (let turn = 0; turn < 100 * throttleWindowRounds; turn += 1) await world.turn(100, 64 * MIB);
  expect(world.throttle.status().inForce, 'never below the floor').toBe(copyRateFloor);
  for (let turn = 0; turn < 100; turn += 1) await world.turn(2, 0);
  expect(world.throttle.status().inForce).toBeNull();
});

test('a late event loop halves the rate too', async () => {
  const world = new World(null);
  world.loopDelayMs = 300;
  await world.turn(1, 10 * MIB);
  expect(world.throttle.status().inForce).toBe(5 * MIB);
});
