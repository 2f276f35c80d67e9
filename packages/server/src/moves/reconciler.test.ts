// A step that fails for many partitions is retried for all of them at once, on a fake clock.
import { CodedError } from '@ringwright/base/coded-error';
import { dutyRetryMs, failureTellingMs } from '@ringwright/base/limits-copies';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { activeOn, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { Reconciler, type ReconcilerPorts } from './reconciler.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

test('a full disk fails once per new file in each retry, until it has room', async () => {
  // Two partitions, and device 3 has none yet.
  const place = servedRing({ devices: 4, replicas: 1, power: 1 });
  const moves = [0, 1].map((partition) => ({ partition, replica: 0, from: partition, to: 3 }));
  const [proposed] = moveVersions(place, moves);
  const active = activeOn(proposed, 3);
  let failures = 0;
  let hasRoom = false;
  const room = { freeBytes: 9, neededBytes: 20 };
  const created: number[] = [];
  const prepared = new Set<string>();
  const store = {
    copies: { prepare: (what: object) => void prepared.add(JSON.stringify(what)) },
    list: () => created.map((partition) => ({ keyspace: 'cities', partition, state: 'filling' })),
    damaged: () => [],
    children: { endMirror: () => undefined },
    create: (_: string, partition: number) => {
      if (!hasRoom)
        return Promise.reject(new CodedError('DISK_FULL', 'no room', { details: room }));
      created.push(partition);
      return Promise.resolve();
    },
  };
  // A device that only has to create files uses no other port.
  const reconciler = new Reconciler({
    onDropped: () => undefined,
    store,
    current: () => active,
    held: { follow: () => Promise.resolve() },
    guard: { judge: () => Promise.resolve(new Set()) },
    onceComplete: { note: () => Promise.resolve() },
    controls: { isPaused: () => false, priority: () => 0 },
    monotonicMs: () => Date.now(),
    loadThrottle: () => ({ loads: null, cooldownTimes: 0 }),
    onError: () => void (failures += 1),
  } as unknown as ReconcilerPorts);
  const { version } = active.ring;
  const complete = reconciler.movesComplete('cities', version, dutyRetryMs);
  await vi.advanceTimersByTimeAsync(dutyRetryMs);
  expect(await complete, 'unknown before the first pass').toBe(false);
  reconciler.reconcile('cities');
  await reconciler.idle('cities');
  expect(await reconciler.movesComplete('cities', version, dutyRetryMs)).toBe(true);
  const files = failures;
  expect(files).toBeGreaterThan(1);
  for (let round = 2; round < 20; round += 1) {
    await vi.advanceTimersByTimeAsync(dutyRetryMs);
    await reconciler.idle('cities');
    expect(failures, `round ${round}`).toBe(round * files);
  }
  // The operator sees why these moves wait, and later that they no longer do.
  expect(reconciler.failing('cities')).toEqual([{ step: 'accept', reason: 'no room', room }]);
  hasRoom = true;
  await vi.advanceTimersByTimeAsync(dutyRetryMs);
  await reconciler.idle('cities');
  expect(created).toHaveLength(files);
  expect([...prepared]).toEqual(['{"gives":false,"takes":true}']);
  await vi.advanceTimersByTimeAsync(failureTellingMs);
  expect(reconciler.failing('cities')).toEqual([]);
  await reconciler.close();
});

test('a full disk on which no partition can be opened does not hold up drains', async () => {
  // Each device has one partition. Device 0 has the file of the other one.
  const active = activeOn(servedRing({ devices: 2, replicas: 1, power: 1 }), 0);
  const surplus = { keyspace: 'cities', partition: 1, state: 'filling' };
  const noRoom = () => Promise.reject(new CodedError('DISK_FULL', 'no room'));
  const store = {
    copies: { prepare: () => undefined },
    list: () => [surplus],
    damaged: () => [],
    children: { endMirror: () => undefined },
    create: noRoom,
  };
  const judged: unknown[] = [];
  const reconciler = new Reconciler({
    store,
    current: () => active,
    held: { follow: () => Promise.resolve(), has: () => false },
    guard: {
      judge: (_: unknown, infos: unknown) => {
        judged.push(infos);
        return Promise.resolve(new Set([1]));
      },
    },
    onceComplete: { note: () => Promise.resolve() },
    whyUnnamed: () => null,
    monotonicMs: () => Date.now(),
    loadThrottle: () => ({ loads: null, cooldownTimes: 0 }),
    onError: () => undefined,
  } as unknown as ReconcilerPorts);
  reconciler.reconcile('cities');
  await reconciler.idle('cities');
  expect(judged).toEqual([[surplus]]);
  expect(reconciler.failing('cities')).toMatchObject([{ step: 'open', reason: 'no room' }]);
  await reconciler.close();
});
