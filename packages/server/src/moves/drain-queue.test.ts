// Drains files one at a time, while requests load the server and one device is dead.
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { copyCooldownTimesMax, drainRetryMsMin, dutyRetryMs } from '@ringwright/base/limits-copies';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { activeOn, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { DrainQueue, type DrainQueuePorts } from './drain-queue.ts';

const CALL_MS = 40;
const TURN_MS = 10;
const partitions = 16;
/** Device 0 is dead. It holds all partitions except the last `movable` ones. */
const DEAD = 0;
const movable = 4;
const place = servedRing({ devices: 5, power: 4 });
const table = place.table.map((row, replica) =>
  row.map((_, partition) => {
    return replica === DEAD && partition >= partitions - movable ? 3 : replica;
  }),
);
const all = Array.from({ length: partitions }, (_, partition) => partition);
const moves = all.map((partition) => ({ partition, replica: 2, from: 2, to: 4 }));
const [, , finalized] = moveVersions({ ...place, table }, moves);
const active = activeOn(finalized, 2);

interface Asked {
  readonly partitions: readonly number[];
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('drains that wait for a dead device do not hold back other drains', async () => {
  let nowMs = 0;
  const left = new Set(all);
  const pauses = new Set<number>();
  const info = { state: 'filling', digest: 'same', seq: 1, incarnation: 'i' };
  const ports = {
    store: {
      info: (_: string, partition: number) => (left.has(partition) ? info : null),
      drop: async (_: string, partition: number) => void left.delete(partition),
    },
    devices: {
      call: async (
        { device }: { device: number },
        _kind: unknown,
        { partitions: asked }: Asked,
      ) => {
        await new Promise((resolve) => setTimeout(resolve, CALL_MS));
        if (device === DEAD) throw new CodedError('PEER_UNREACHABLE', 'd0 is dead');
        return { holdings: asked.map(() => ({ state: 'ready', digest: 'same' })) };
      },
    },
    guard: { judge: () => Promise.resolve(new Set()) },
    inFlight: { drained: () => Promise.resolve() },
    onceComplete: { note: () => Promise.resolve(), forget: () => undefined },
    current: () => active,
    requireDropsAllowed: () => undefined,
    onDrainEnded: () => undefined,
    loadThrottle: () => ({ loads: 1, cooldownTimes: copyCooldownTimesMax }),
    monotonicMs: () => nowMs,
  } as unknown as DrainQueuePorts; // no other port is used here
  const reconcile = (): void => {
    const infos = [...left].map((partition) => ({ partition }) as PartitionInfo);
    void queue.offer(active, { infos, partitions: [...left] });
  };
  const queue = new DrainQueue(ports, {
    isBusy: () => false,
    onDropped: () => undefined,
    onEnded: reconcile,
    // Retries after a pause, as the reconciler does.
    onFailed: (_keyspace, _error, { release, pauseMs = 0 }) => {
      pauses.add(pauseMs);
      setTimeout(() => {
        release?.();
        reconcile();
      }, pauseMs);
    },
  });
  reconcile();
  const runUntil = async (isDone: () => boolean, msMax: number): Promise<void> => {
    for (let ms = 0; ms < msMax && !isDone(); ms += TURN_MS) {
      nowMs += TURN_MS;
      await vi.advanceTimersByTimeAsync(TURN_MS);
      await setImmediate(); // lets the queued calls leave
    }
  };
  await runUntil(() => left.size === partitions - movable, 10_000);
  expect([...left]).toEqual(all.slice(0, partitions - movable));
  expect(queue.view(active.ring.keyspace).failures.size).toBe(partitions - movable);
  await runUntil(() => pauses.has(dutyRetryMs), 120_000);
  queue.close();
  // The first retry comes soon, as a joiner may be taking over just now. The pauses then double.
  expect(pauses).toEqual(
    new Set([1, 2, 4, 8].map((times) => times * drainRetryMsMin).concat(dutyRetryMs)),
  );
});

test('a server at another address than in the ring is not to drop its files', async () => {
  const moved = { ...active, self: null };
  const guard = { judge: () => Promise.resolve(new Set(all)) };
  const onceComplete = { note: () => Promise.resolve() };
  const reasonFor = async (unnamedReason: string | null): Promise<string | undefined> => {
    const whyUnnamed = () => unnamedReason;
    const idle = { monotonicMs: () => 0, loadThrottle: () => ({ loads: 1 }) };
    const address = '10.0.0.9:6200';
    const ports = { guard, onceComplete, whyUnnamed, address, ...idle };
    const listener = { isBusy: () => false } as unknown as ConstructorParameters<
      typeof DrainQueue
    >[1];
    const queue = new DrainQueue(ports as unknown as DrainQueuePorts, listener);
    const infos = all.map((partition) => ({ partition }) as PartitionInfo);
    await queue.offer(moved, { infos, partitions: all });
    queue.close();
    return queue.view(active.ring.keyspace).reasons.get(0);
  };
  expect(await reasonFor('start it as the ring says')).toBe('held: start it as the ring says');
  expect(await reasonFor(null)).toContain('confirm --to 10.0.0.9:6200 lets it drop its 16 files');
});
