// What an operator allows and what requests bear: the lower is in force, in both directions.
import { copyRateFloor, paceRequestsMin, paceWindowTurns } from '@ringwright/base/limits-copies';
import { expect, test } from 'vitest';
import { CopyPace } from './copy-pace.ts';

const MIB = 1024 * 1024;

/** A clock that the test moves, and requests that take as long as it says. */
class World {
  ms = 0;
  loopDelayMs = 0;
  readonly pace: CopyPace;

  constructor(rate: number | null) {
    const loopDelayMs = (): number => this.loopDelayMs;
    const ports = { monotonicMs: () => this.ms, loopDelayMs, idleShare: () => 1 };
    this.pace = new CopyPace(ports, rate);
  }

  async turn(requestMs: number, copiedBytes: number): Promise<void> {
    for (let count = 0; count < paceRequestsMin; count += 1) {
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

test('requests that suffer halve it; an operator may still allow less', async () => {
  const world = new World(null);
  for (let turn = 0; turn < 5; turn += 1) await world.turn(2, 0);
  await world.turn(100, 64 * MIB);
  expect(world.pace.status()).toMatchObject({ allowed: null, inForce: 32 * MIB });
  expect(world.pace.status().foregroundP99Ms).toBeGreaterThan(50);
  world.pace.allow(8 * MIB);
  expect(world.pace.status().inForce).toBe(8 * MIB);
  world.pace.allow(null);
  for (let turn = 0; turn < 100 * paceWindowTurns; turn += 1) await world.turn(100, 64 * MIB);
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
