// The queue of loads on real stores: limits hold, a busy or bad source does not hold back other
// loads, a cut copy resumes, and every partition is loaded in the end.
import { CodedError } from '@ringwright/base/coded-error';
import { copiesFromServerMax } from '@ringwright/base/limits-copies';
import { waitFor } from '@ringwright/node/wait-for';
import { copyClose, copyOpen, copyRead } from '@ringwright/wire/copies';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { freeThrottle } from '../copies/throttle-control.ts';
import { OnceComplete } from '../device/once-complete.ts';
import type { LoadStep, LoadsView } from './load-notes.ts';
import { LoadQueue } from './load-queue.ts';

const partitions = 32;
/** Device 3 joins for device 0, which has slot 0 of all partitions. */
const wide = servedRing({ power: 5, devices: 3 });
const table = wide.table.map((row, replica) => row.map(() => replica));
const devices = [
  ...wide.devices,
  { ...wide.devices[0]!, id: 3, zone: 3, port: 6203, device: 'sd3' },
];
const first = { ...wide, table, devices };
const all = Array.from({ length: partitions }, (_, partition) => partition);
const moves = all.map((partition) => ({ partition, replica: 0, from: 0, to: 3 }));
const versions = [first, ...moveVersions(first, moves)];

interface Joining extends AsyncDisposable {
  readonly source: StoreDevice;
  readonly joiner: StoreDevice;
  readonly seen: LoadsView;
  readonly errors: unknown[];
  /** How the loads ended, in their order. */
  readonly outcomes: readonly ('loaded' | 'failed')[];
  /** Offers all loads until all have ended, like passes that looked before one began or ended. */
  readonly loaded: () => Promise<void>;
  readonly stages: () => string[];
  /** Offers and stops all loads in one turn. Resolves to the number that began, once they ended. */
  readonly stopped: (reason: CodedError) => Promise<number>;
}

interface Watched {
  readonly paused?: ReadonlySet<number>;
  readonly monotonicMs?: () => number;
  readonly errors?: unknown[];
  readonly onEnded: (outcome: 'loaded' | 'failed') => void;
}

async function queueOf(
  { store, devices: caller, decide, throttle }: StoreDevice,
  { paused, monotonicMs = () => performance.now(), errors = [], onEnded }: Watched,
): Promise<LoadQueue> {
  const onceComplete = await OnceComplete.load(store.directory);
  return new LoadQueue({
    ...{ store, devices: caller, decide, throttle, onceComplete },
    controls: {
      isPaused: (_keyspace, assignment) => paused?.has(assignment) === true,
      priority: () => 0,
      forceReason: () => null,
      endForce: () => Promise.resolve(),
    },
    signReceipt: () => '',
    loadThrottle: () => freeThrottle,
    monotonicMs,
    onError: (_step, error) => errors.push(error),
    onRepair: () => undefined,
    onEnded: (_keyspace, outcome) => onEnded(outcome),
  });
}

async function joining(
  paused: ReadonlySet<number> = new Set(),
  monotonicMs = () => performance.now(),
): Promise<Joining> {
  const cluster = await StoreCluster.open(versions);
  for (const partition of all) {
    await cluster.create(partition, [0, 1, 2]);
    await cluster.create(partition, [3], 'filling');
    for (const device of cluster.devices.slice(0, 3)) {
      await device.put(partition, { [`key ${partition}`]: 'x'.repeat(40_000 * (partition % 4)) });
    }
  }
  cluster.activate(3);
  const [source, , , joiner] = cluster.devices;
  const { active } = joiner!;
  const errors: unknown[] = [];
  const outcomes: ('loaded' | 'failed')[] = [];
  let isStopped = false;
  const offer = (): void => {
    const steps = active.ring.moves.map((move): LoadStep => {
      return { kind: 'load', partition: move.partition, move };
    });
    queue.offer(active, steps);
  };
  const queue = await queueOf(joiner!, {
    paused,
    monotonicMs,
    errors,
    onEnded: (outcome) => {
      outcomes.push(outcome);
      if (!isStopped) offer();
    },
  });
  const seen = queue.view('cities');
  return {
    source: source!,
    joiner: joiner!,
    seen,
    errors,
    outcomes,
    loaded: async () => {
      offer();
      const wanted = partitions - paused.size;
      await waitFor('every load', {
        ask: () => seen.loaded.size,
        until: (size) => size === wanted,
      });
    },
    stopped: async (reason) => {
      isStopped = true;
      offer();
      queue.stop('cities', new Set(active.ring.moves.map(({ assignment }) => assignment)), reason);
      const ask = (): number => seen.running.size;
      await waitFor('the end of all', { ask, until: (size) => size === 0 });
      isStopped = false;
      return outcomes.length;
    },
    stages: () => [...seen.progress.values()].map(({ stage, reason }) => `${stage} ${reason}`),
    [Symbol.asyncDispose]: async () => {
      await queue.close();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** Counts the copies that a device opens, and the maximum open at the same time. */
function watching(device: StoreDevice): { most: number; opened: number } {
  const seen = { most: 0, opened: 0 };
  let open = 0;
  device.onAnswer = (method, answer) => {
    if (method === copyOpen.method) {
      open += 1;
      seen.opened += 1;
    }
    if (method === copyClose.method) open -= 1;
    seen.most = Math.max(seen.most, open);
    return answer;
  };
  return seen;
}

function equal({ source, joiner }: Joining): void {
  const digests = (device: StoreDevice) => all.map((partition) => device.info(partition)?.digest);
  expect(digests(joiner)).toEqual(digests(source));
}

test('loads that wait when all are stopped do not begin before the next offer', async () => {
  await using place = await joining();
  const reason = new CodedError('MOVE_STOPPED', 'an operator has stopped it');
  expect(await place.stopped(reason)).toBe(copiesFromServerMax);
  expect(new Set(place.stages())).toEqual(new Set([`queued ${reason.message}`]));
  await place.loaded();
  equal(place);
});

test('no more loads than allowed come from one server at once, and all end', async () => {
  await using place = await joining();
  const seen = watching(place.source);
  const waits: string[] = [];
  // Reads wait until the maximum is open: a slow machine would end one before the next begins.
  place.source.onCall = async (method) => {
    if (method !== copyRead.method) return;
    await waitFor('so many open copies', {
      ask: () => Promise.resolve(seen.most),
      until: (most) => most >= copiesFromServerMax,
    });
    waits.push(...place.stages().filter((stage) => stage.startsWith('queued')));
  };
  await place.loaded();
  expect(seen).toEqual({ most: copiesFromServerMax, opened: partitions });
  const limit = `${copiesFromServerMax} loads from servers at 127.0.0.1 run here, the maximum`;
  expect(new Set(waits)).toEqual(new Set([`queued ${limit}`]));
  expect(place.errors).toEqual([]);
  expect(new Set(place.stages())).toEqual(new Set(['available ']));
  equal(place);
});

test('a source that is busy now and then causes no failure', async () => {
  await using place = await joining();
  let asked = 0;
  place.source.onCall = (method) => {
    if (method !== copyOpen.method || (asked += 1) % 3 !== 0) return;
    throw new CodedError('COPY_BUSY', 'the source sends 8 copies in all, the maximum');
  };
  await place.loaded();
  expect(place.errors).toEqual([]);
  expect(asked).toBeGreaterThan(partitions);
  equal(place);
});

test('a source that gives one copy at a time gives the next when one has ended', async () => {
  // The clock of the joiner stands still, so no pause ever ends.
  await using place = await joining(new Set(), () => 1_000);
  let open = 0;
  let refused = 0;
  place.source.onCall = (method) => {
    if (method === copyClose.method) open -= 1;
    if (method !== copyOpen.method) return;
    if (open > 0) {
      refused += 1;
      throw new CodedError('COPY_BUSY', 'the source sends 1 copies in all, the maximum');
    }
    open += 1;
  };
  await place.loaded();
  expect(refused).toBeGreaterThan(0);
  expect(refused).toBeLessThan(2 * partitions);
  expect(place.errors).toEqual([]);
  equal(place);
});

test('a source that says how long it is busy is asked again after that time', async () => {
  let nowMs = 1_000;
  await using place = await joining(new Set(), () => nowMs);
  const waitMs = 7;
  let isBusy = true;
  place.source.onCall = (method) => {
    if (method !== copyOpen.method || !isBusy) return;
    const details = { retryAfterMs: waitMs };
    throw new CodedError('COPY_BUSY', 'the source serves requests first', { details });
  };
  const loaded = place.loaded();
  await waitFor('loads that were sent away', {
    ask: () => place.seen.attempts.size,
    until: (size) => size > 0,
  });
  for (const { notBeforeMs } of place.seen.attempts.values()) {
    expect(notBeforeMs).toBe(nowMs + waitMs);
  }
  isBusy = false;
  nowMs += waitMs;
  await loaded;
  expect(place.errors).toEqual([]);
  equal(place);
});

test('a partition that always comes damaged from its source comes from the others', async () => {
  await using place = await joining();
  let broken = '';
  place.source.onAnswer = (method, answer) => {
    if (method === copyOpen.method && broken === '') broken = copyOpen.answer.parse(answer).digest;
    if (method !== copyOpen.method) return answer;
    const manifest = copyOpen.answer.parse(answer);
    return manifest.digest === broken ? { ...manifest, seal: '0'.repeat(64) } : manifest;
  };
  await place.loaded();
  expect(place.errors.length).toBeGreaterThan(0);
  const failed = place.outcomes.filter((outcome) => outcome === 'failed');
  expect(failed).toHaveLength(place.errors.length);
  expect(place.errors.every((error) => (error as CodedError).code === 'COPY_INVALID')).toBe(true);
  equal(place);
});

test('every partition is loaded although its copy is cut again and again', async () => {
  await using place = await joining();
  let reads = 0;
  place.source.onCall = (method) => {
    if (method !== copyRead.method || (reads += 1) % 5 !== 0) return;
    throw new CodedError('PEER_TIMEOUT', 'no answer');
  };
  await place.loaded();
  equal(place);
});

test('a paused load waits and says so', async () => {
  await using place = await joining(new Set([1, 2]));
  await place.loaded();
  expect(place.stages().filter((stage) => stage.startsWith('paused'))).toEqual([
    'paused paused by an operator',
    'paused paused by an operator',
  ]);
});

test('a refill that ended while a pass was looking is not run again', async () => {
  await using cluster = await StoreCluster.open([servedRing({ power: 0, devices: 3 })]);
  await cluster.create(0, [0, 1]);
  await cluster.create(0, [2], 'filling');
  const refilled = cluster.devices[2]!;
  let ended = 0;
  const queue = await queueOf(refilled, { onEnded: () => void (ended += 1) });
  const offer = (): void => queue.offer(refilled.active, [{ kind: 'refill', partition: 0 }]);
  offer();
  await waitFor('the refill', { ask: () => ended, until: Boolean });
  expect(refilled.info(0)?.state).toBe('ready');
  offer(); // as a pass does that listed the states of the files before
  expect([...queue.view('cities').running]).toEqual([]);
  await queue.close();
});
