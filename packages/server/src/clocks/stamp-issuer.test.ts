// Tests the issued stamps on a simulated machine with crashes and clock changes, and the file that
// keeps the reservation.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { clockAheadMsMax, stampsReservedMs } from '@ringwright/base/limits';
import { compareStamps, type Stamp, zeroStamp } from '@ringwright/base/stamp';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { openClockFile, StampIssuer } from './stamp-issuer.ts';

const startMs = 1_763_692_800_000;

/** A device whose clock can be set to any time and whose process can crash at any moment. */
class Machine {
  nowMs = startMs;
  savedMs = 0;
  saves = 0;
  /** Saves that have begun and are not on disk yet. A crash may lose them. */
  #pending: { ms: number; done: () => void }[] = [];
  issuer = this.#start();

  #start(): StampIssuer {
    const clock = new HybridClock(() => this.nowMs);
    const life = this.#pending;
    const save = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        expect(life).toHaveLength(0);
        this.saves += 1;
        life.push({ ms, done: resolve });
      });
    return new StampIssuer({ clock, savedMs: this.savedMs, save });
  }

  /** Completes the saves that have begun. */
  land(): void {
    for (const { ms, done } of this.#pending.splice(0)) {
      this.savedMs = ms;
      done();
    }
  }

  crash(landed: boolean): void {
    if (landed) this.land();
    this.#pending = [];
    this.issuer = this.#start();
  }

  async restart(): Promise<void> {
    const closing = this.issuer.close();
    await this.flush();
    await closing;
    this.crash(false);
  }

  /** Completes saves and runs promises until nothing is in flight. */
  async flush(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) {
      this.land();
      await Promise.resolve();
    }
  }

  async issue(): Promise<Stamp> {
    const issued = Promise.resolve(this.issuer.issue(3));
    issued.catch(() => {});
    await this.flush();
    return issued;
  }
}

type Step =
  | { readonly kind: 'tick' | 'jump'; readonly byMs: number }
  | { readonly kind: 'issue' | 'close' }
  | { readonly kind: 'crash'; readonly landed: boolean; readonly inFlight: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('tick' as const), byMs: fc.integer({ min: 0, max: 20_000 }) }),
  fc.record({
    kind: fc.constant('jump' as const),
    byMs: fc.constantFrom(-3_600_000, -61_000, -5_000, 5_000, 61_000, 3_600_000),
  }),
  fc.record({ kind: fc.constantFrom('issue' as const, 'issue' as const, 'close' as const) }),
  fc.record({ kind: fc.constant('crash' as const), landed: fc.boolean(), inFlight: fc.boolean() }),
);

test('stamps always increase, across crashes and clock changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const machine = new Machine();
      let highest = zeroStamp;
      for (const one of steps) {
        if (one.kind === 'tick' || one.kind === 'jump') machine.nowMs += one.byMs;
        else if (one.kind === 'close') await machine.restart();
        else if (one.kind === 'crash') {
          // A stamp that was requested and is not covered by a reservation must not be issued.
          if (one.inFlight) Promise.resolve(machine.issuer.issue(3)).catch(() => {});
          machine.crash(one.landed);
        } else {
          const stamp = await machine.issue().catch((error: unknown) => error);
          const behindMs = Math.max(highest.ms, machine.savedMs) - machine.nowMs;
          if (stamp instanceof Error) {
            expect(stamp).toMatchObject({ code: 'CLOCK_BEHIND' });
            expect(behindMs).toBeGreaterThan(clockAheadMsMax - 2);
            continue;
          }
          expect(compareStamps(stamp as Stamp, highest)).toBeGreaterThan(0);
          highest = stamp as Stamp;
          expect(highest.ms - machine.nowMs).toBeLessThanOrEqual(clockAheadMsMax);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('a clock set back while the server was down gives no stamps until it catches up', async () => {
  const machine = new Machine();
  const before = await machine.issue();
  machine.nowMs -= 3_600_000;
  machine.crash(false);
  await expect(machine.issue()).rejects.toMatchObject({
    code: 'CLOCK_BEHIND',
    details: { outcome: 'rejected' },
  });
  machine.nowMs += 3_600_000 - clockAheadMsMax + stampsReservedMs + 1;
  expect(compareStamps(await machine.issue(), before)).toBeGreaterThan(0);
});

test('the clock is checked again after waiting for the disk', async () => {
  const machine = new Machine();
  const refused = new Error('looked at, and found wrong');
  const again = (): never => {
    if (machine.nowMs > startMs) throw refused;
    throw new Error('asked too early');
  };
  const stamp = Promise.resolve(machine.issuer.issue(3, again));
  machine.nowMs += 3_600_000;
  machine.land();
  await expect(stamp).rejects.toBe(refused);
});

test('steady writes save about twice per reserved span, and an idle issuer never', async () => {
  const machine = new Machine();
  for (let ms = 0; ms < 60_000; ms += 100) {
    machine.nowMs += 100;
    await machine.issue();
  }
  expect(machine.saves).toBeLessThan((60_000 / stampsReservedMs) * 2 + 3);
  const saves = machine.saves;
  machine.nowMs += 3_600_000;
  await machine.flush();
  expect(machine.saves).toBe(saves);
});

test('a clean stop returns the unused part of the reservation', async () => {
  const machine = new Machine();
  const last = await machine.issue();
  await machine.restart();
  expect(machine.savedMs).toBe(last.ms + 1);
  await expect(machine.issue()).resolves.toMatchObject({ ms: last.ms + 1 });
});

test('a write whose stamp cannot be reserved may go to another server', async () => {
  const clock = new HybridClock(() => startMs);
  const error = new CodedError('DISK_FAILED', 'EIO');
  const save = vi.fn(() => Promise.resolve()).mockRejectedValueOnce(error);
  const issuer = new StampIssuer({ clock, savedMs: 0, save });
  const failure = { code: 'DISK_FAILED', outcome: 'not-done' };
  await expect(Promise.resolve(issuer.issue(0))).rejects.toMatchObject(failure);
  expect(issuer.unsaved, 'shown by health').toBe('EIO');
  await issuer.issue(0);
  expect(issuer.unsaved).toBeNull();
});

test('clock.json keeps the reservation, and an invalid file is refused', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'clock-'));
  try {
    const first = await openClockFile(directory);
    expect(first.savedMs).toBe(0);
    await first.save(startMs);
    expect((await openClockFile(directory)).savedMs).toBe(startMs);
    await writeFile(join(directory, 'clock.json'), '{"stampsBelowMs":-1}');
    await expect(openClockFile(directory)).rejects.toMatchObject({ code: 'DISK_FAILED' });
  } finally {
    await rm(directory, { recursive: true });
  }
});
