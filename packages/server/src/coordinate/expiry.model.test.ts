// Tests expiring records on coordinators whose clocks differ, against a model of the last write.
// The clock of the reading coordinator decides what has expired; no device has to delete anything.
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { seededRandom } from '@ringwright/base/random';
import { compareStamps } from '@ringwright/base/stamp';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { SimulatedCluster } from '../../../../test/support/simulated-cluster.ts';
import { identityOf } from '../replica/wire-record.ts';
import { changeKey } from './change-key.ts';
import { coordinateRead, coordinateWrite, type Written } from './coordinate.ts';
import { expiryOf, ttlMsOf } from './request-terms.ts';

const ring = servedRing({ devices: 4, power: 0 });

beforeEach(() =>
  vi.useFakeTimers({ now: 1_763_692_800_000, toFake: ['setTimeout', 'clearTimeout', 'Date'] }),
);
afterEach(() => vi.useRealTimers());

async function soon<T>(work: MaybePromise<T>): Promise<T> {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  Promise.resolve(work).then(end, end);
  while (!isDone) await vi.advanceTimersByTimeAsync(50);
  return work;
}

interface Expected {
  readonly value: string | null;
  /** 0: the record does not expire. */
  readonly expiresMs: number;
  readonly written: Written;
}

test.each(Array.from({ length: 40 }, (_, index) => index + 1))(
  'reads and conditional writes follow the expiry of records: seed %i',
  async (seed) => {
    const random = seededRandom(seed);
    const sound = { lossPercent: 0, takeover: true };
    const cluster = new SimulatedCluster(seed, [ring], sound);
    const model = new Map<string, Expected>();
    for (let step = 0; step < 40; step += 1) {
      await vi.advanceTimersByTimeAsync(random.below(400));
      const { coordinator } = cluster.devices[random.below(4)]!;
      const name = `key ${random.below(3)}`;
      const about = { keyspace: 'cities', key: Buffer.from(name) };
      const known = model.get(name);
      const value = `v${step}`;
      const ttlMs = random.below(3) === 0 ? null : 1 + random.below(1_500);
      const expiresMs = ttlMs === null ? 0 : expiryOf(ttlMs, coordinator.clock.nowMs());
      const content = { value: Buffer.from(value), expiresMs };
      const dice = random.below(9);
      if (dice < 3) {
        // Clocks differ: like a session token, this puts the stamp above that of the last writer.
        if (known) coordinator.clock.observe(known.written);
        const write = coordinateWrite(coordinator, { ...about, ...content, consistency: 'quorum' });
        model.set(name, { value, expiresMs, written: await soon(write) });
      } else if (dice < 5) {
        const before = coordinator.clock.nowMs();
        const onlyAbsent = changeKey(coordinator, about, (now) => (now?.value ? null : content));
        const { record, isChanged } = await soon(onlyAbsent);
        const surelyThere =
          known?.value && (known.expiresMs === 0 || known.expiresMs > coordinator.clock.nowMs());
        const surelyGone = !known?.value || (known.expiresMs > 0 && known.expiresMs <= before);
        if (surelyThere) expect(isChanged).toBe(false);
        if (surelyGone) expect(isChanged).toBe(true);
        if (isChanged && record) model.set(name, { value, expiresMs, written: record });
      } else {
        const before = coordinator.clock.nowMs();
        const record = await soon(coordinateRead(coordinator, { ...about, consistency: 'quorum' }));
        const after = coordinator.clock.nowMs();
        if (known === undefined) expect(record).toBeNull();
        else {
          const found = record?.value ? Buffer.from(record.value).toString() : null;
          if (known.expiresMs === 0 || known.expiresMs > after) expect(found).toBe(known.value);
          else if (known.expiresMs <= before) expect(found).toBeNull();
          // Expired or not, the answer has the stamp of the record.
          expect(compareStamps(identityOf(record!), identityOf(known.written))).toBe(0);
        }
      }
    }
  },
);

test('a time to live is given as seconds in digits, and anything else is refused', () => {
  expect([ttlMsOf('1'), ttlMsOf('0.5'), ttlMsOf('3600.001')]).toEqual([1_000, 500, 3_600_001]);
  for (const text of ['', '-1', '1e3', '1.0001', ' 1', 'Infinity', '1'.repeat(13)]) {
    expect(() => ttlMsOf(text), text).toThrow(
      expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE' }),
    );
  }
  for (const ms of [0, -1, 0.5, Number.NaN, 2 ** 50]) {
    expect(() => expiryOf(ms, 1)).toThrow(expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE' }));
  }
});
