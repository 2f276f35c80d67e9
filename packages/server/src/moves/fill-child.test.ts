// Children are filled while writes, promises and repair continue. Each child has what its parents
// have, accepts what they accept, and refuses what they refuse. The store is real.
import { setImmediate } from 'node:timers/promises';
import { seededRandom } from '@ringwright/base/random';
import { openStore } from '@ringwright/partition/open-store';
import type { Store } from '@ringwright/partition/store';
import { finalizeMoves, initializeMoves, reshapeRing } from '@ringwright/ring/advance-ring';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type {
  IntervalPartitioner,
  RangesPartitioner,
} from '@ringwright/ring/partitioner/partitioner';
import { mergeIntervals, splitInterval } from '@ringwright/ring/partitioner/reshape';
import { retireBefore } from '@ringwright/ring/partitioner/retired-ranges';
import { reshapeMappingOf } from '@ringwright/ring/reshape-ring';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { fillChild, parentsHere } from './fill-child.ts';
import type { LoadPorts, LoadTask } from './load-task.ts';

const keyspace = 'cities';
const ranges: RangesPartitioner = { kind: 'ranges', partitions: 2, starts: ['k/500'] };
const reshapes = {
  split: splitInterval(ranges, 0, ['k/200', 'k/350']),
  merge: mergeIntervals(ranges, 0, 1),
  retire: retireBefore(ranges, 'k/500'),
};
const keyOf = (index: number): Buffer => Buffer.from(`k/${100 + index}`);

function copying(to: IntervalPartitioner): Ring {
  const ring = { ...servedRing({ devices: 3, replicas: 3, power: 1 }), partitioner: ranges };
  const begun = reshapeRing(ring, encodeRing(ring).id, { partitioner: to });
  return initializeMoves(begun, encodeRing(begun).id);
}

async function opened(directory: string): Promise<Store> {
  let number = 0;
  const newIncarnation = (): string => `i${(number += 1)}`;
  const store = await openStore({ directory, newIncarnation });
  for (const partition of [0, 1]) await store.create(keyspace, partition, 'ready');
  return store;
}

/** Calls `during` in each turn of the event loop while files are built and put in place. */
async function filled(store: Store, ring: Ring, during: () => Promise<void>): Promise<void> {
  const active = activeOn(ring, 0);
  const { children } = store;
  const adopt: Store['children']['adopt'] = async (family) => {
    const adopted = children.adopt(family);
    const isOver = adopted.then(
      () => true,
      () => true,
    );
    do await during();
    while (!(await Promise.race([isOver, setImmediate(false)])));
    return adopted;
  };
  Object.defineProperty(store, 'children', { configurable: true, value: { ...children, adopt } });
  const throttle = { pass: () => Promise.resolve() };
  const ports = { store, throttle } as unknown as LoadPorts;
  for (const [partition, parents] of reshapeMappingOf(ring).parents) {
    await store.create(keyspace, partition, 'filling');
    const move = ring.moves.find((one) => one.partition === partition && one.to === 0) ?? null;
    const task = { active, partition, move, onProgress: () => undefined } as LoadTask;
    const from = parentsHere(store, task);
    expect(from ?? []).toEqual(reshapeMappingOf(ring).emptied.has(partition) ? [] : parents);
    await fillChild(ports, task, from ?? []);
  }
}

interface World {
  readonly store: Store;
  readonly ring: Ring;
  readonly writes: Promise<unknown>[];
  readonly write: (count: number) => void;
}

/** A store with 2,000 writes, deletions and promises, and a function that makes more. */
async function world(directory: string, kind: keyof typeof reshapes): Promise<World> {
  const store = await opened(directory);
  const random = seededRandom(kind.length);
  const partitionOf = partitionerOf(ranges);
  const writes: Promise<unknown>[] = [];
  let ms = 1_000;
  const write = (count: number): void => {
    for (let left = count; left > 0; left -= 1) {
      const key = keyOf(random.below(800));
      const isPreparedBallot = random.below(20) === 0;
      const value = isPreparedBallot || random.below(9) === 0 ? null : Buffer.from(`value ${ms}`);
      ms += 1;
      // Some arrive late, with older stamps.
      const stamp = { ms: ms - (random.below(4) === 0 ? random.below(400) : 0), tie: ms };
      const partition = partitionOf(key);
      writes.push(store.write([{ keyspace, partition, key, value, isPreparedBallot, ...stamp }]));
    }
  };
  write(2_000);
  await Promise.all(writes);
  return { store, ring: copying(reshapes[kind]), writes, write };
}

/** Differences between parents and children, by key. */
function differences({ store, ring }: World): string[] {
  const { reshape, partitioner } = ring;
  if (reshape === undefined) throw new Error('nothing is reshaped');
  const [was, is] = [partitionerOf(partitioner), partitionerOf(reshape.partitioner)];
  const all = { rowsMax: 10_000, bytesMax: 10_000_000 };
  const open = (partition: number): string[] =>
    store
      .preparedBallots(keyspace, partition)
      .map(({ key, ms, tie }) => `${key.toString()} ${ms} ${tie}`);
  const children = [...reshapeMappingOf(ring).parents.keys()];
  const parents = [...reshapeMappingOf(ring).retired];
  const records = (partition: number): string[] =>
    store
      .rowsSince(keyspace, partition, 0, all)
      .rows.map(({ key, ms, tie, value }) => `${key.toString()} ${ms} ${tie} ${value?.toString()}`);
  const inParents = parents.flatMap(records);
  const inChildren = children.flatMap(records);
  const misplaced = Array.from({ length: 800 }, (_, index) => keyOf(index)).filter((key) => {
    const [parent, child] = [was(key), is(key)];
    return parents.includes(parent) && !children.includes(child);
  });
  return [
    ...misplaced.map((key) => `misplaced ${key.toString()}`),
    ...new Set(inParents).symmetricDifference(new Set(inChildren)),
    ...new Set(parents.flatMap(open)).difference(new Set(children.flatMap(open))),
  ];
}

const kinds = ['split', 'merge'] as const;

test.each(kinds)(
  '%s: the children have all writes from before, during and after the fill',
  async (kind) => {
    await using folder = await scratchFolder();
    const here = await world(folder.path, kind);
    const { store, ring, write, writes } = here;
    // Not all of these are durable when the fill begins.
    write(300);
    await filled(store, ring, () => {
      write(40);
      return Promise.resolve();
    });
    write(300);
    await Promise.all(writes);
    expect(differences(here)).toEqual([]);
    await store.close();
  },
);

test('a write that passed the fence before the table named the child reaches it', async () => {
  await using folder = await scratchFolder();
  const store = await opened(folder.path);
  const ring = copying(reshapes.split);
  const finalized = finalizeMoves(ring, encodeRing(ring).id);
  const place = { keyspace, partition: 0, value: Buffer.from('late'), tie: 0 };
  await store.write([{ ...place, key: keyOf(0), ms: 1 }]);
  const late = [1, 2, 3].map((index) => ({ ...place, key: keyOf(index), ms: 2 }));
  // This server was restarted before, so nothing is mirrored yet.
  await filled(store, finalized, async () => void (await store.write(late)));
  const child = partitionerOf(reshapes.split)(keyOf(0));
  const values = [0, 1, 2, 3].map((index) => store.read(keyspace, child, keyOf(index))?.ms);
  expect(values).toEqual([1, 2, 2, 2]);
  await store.close();
});

test('one pass over a parent fills all of its children, in any order of calls', async () => {
  await using folder = await scratchFolder();
  const here = await world(folder.path, 'split');
  const { store, ring } = here;
  const active = activeOn(ring, 0);
  const starts: number[] = [];
  const adopt: Store['children']['adopt'] = (family) => {
    starts.push(...family.parents);
    return children.adopt(family);
  };
  const { children } = store;
  Object.defineProperty(store, 'children', { value: { ...children, adopt } });
  const throttle = { pass: () => Promise.resolve() };
  const ports = { store, throttle } as unknown as LoadPorts;
  const ids = [...reshapeMappingOf(ring).parents.keys()];
  const given = new Map<number, number>();
  const fill = (partition: number): Promise<void> => {
    const move = ring.moves.find((one) => one.partition === partition && one.to === 0) ?? null;
    const onProgress = ({ rows }: { rows?: number }) => void given.set(partition, rows ?? 0);
    return fillChild(ports, { active, partition, move, onProgress } as LoadTask, [0]);
  };
  for (const partition of ids) await store.create(keyspace, partition, 'filling');
  const [first = 0, second = 0, third = 0] = ids;
  await Promise.all([fill(second), fill(first)]);
  await fill(third);
  expect(starts).toEqual([0]);
  expect(differences(here)).toEqual([]);
  for (const id of ids) expect(given.get(id)).toBe(rowsIn(store, id));

  // A file that is created again has lost the rows of the pass, so that a second pass is needed.
  await store.drop(keyspace, third);
  await store.create(keyspace, third, 'filling');
  await fill(third);
  expect(starts).toEqual([0, 0]);
  expect(differences(here)).toEqual([]);
  await store.close();
});

function rowsIn(store: Store, partition: number): number {
  const { rows = 0, tombstones = 0 } = store.info(keyspace, partition) ?? {};
  return rows + tombstones;
}

test('the comparison detects a child that gets no mirrored writes', async () => {
  await using folder = await scratchFolder();
  const here = await world(folder.path, 'split');
  const { store, ring, write, writes } = here;
  const deaf = { ...store.children, mirror: () => undefined };
  Object.defineProperty(store, 'children', { value: deaf });
  await filled(store, ring, () => {
    write(40);
    return Promise.resolve();
  });
  write(300);
  await Promise.all(writes);
  expect(differences(here).length).toBeGreaterThan(100);
  await store.close();
});

test('a child gets floor and barrier, and repair of old records waits meanwhile', async () => {
  await using folder = await scratchFolder();
  const here = await world(folder.path, 'merge');
  const { store, ring } = here;
  for (const [partition, ms] of [
    [0, 1_400],
    [1, 1_700],
  ] as const) {
    await store.raiseBarrier(keyspace, partition, ms);
    await store.raiseFloor(keyspace, partition, ms);
  }
  const old = {
    keyspace,
    key: Buffer.from('k/unknown'),
    value: Buffer.from('x'),
    ms: 1_300,
    tie: 1,
  };
  const during: string[] = [];
  await filled(store, ring, async () => {
    const [outcome] = await store.write([{ ...old, partition: 1 }]);
    during.push(outcome?.kind ?? '');
  });
  expect(new Set(during)).toEqual(new Set(['absent']));
  const [child = -1] = reshapeMappingOf(ring).parents.keys();
  expect(store.marks(keyspace, child)).toMatchObject({ floorMs: 1_400, barrierMs: 1_700 });
  const [[parents], [own]] = await Promise.all([
    store.write([{ ...old, partition: 1 }]),
    store.write([{ ...old, partition: child }]),
  ]);
  expect([parents?.kind, own?.kind]).toEqual(['stale', 'stale']);
  await store.close();
});

test('a child that begins empty gets nothing from its parents, and refills once lost', async () => {
  await using folder = await scratchFolder();
  const { store, ring } = await world(folder.path, 'retire');
  const [[child = -1, parents] = []] = reshapeMappingOf(ring).parents;
  expect(parents).toEqual([0]);
  const [move = null] = ring.moves;
  expect(parentsHere(store, { active: activeOn(ring, 0), partition: child, move })).toEqual([]);
  await filled(store, ring, () => Promise.reject(new Error('nothing is copied')));
  expect(store.info(keyspace, child)).toMatchObject({ seq: 0, rows: 0 });
  const after = activeOn(finalizeMoves(ring, encodeRing(ring).id), 0);
  const fromHere = () => parentsHere(store, { active: after, partition: child, move: null });
  expect(fromHere(), 'restarted before it was ready').toEqual([]);
  await store.setState(keyspace, child, 'lost');
  expect(fromHere()).toBeNull();
  await store.close();
});

test('an incomplete parent fills no child', async () => {
  await using folder = await scratchFolder();
  const { store, ring } = await world(folder.path, 'split');
  await store.setState(keyspace, 0, 'filling');
  const filling = filled(store, ring, () => Promise.resolve());
  await expect(filling).rejects.toMatchObject({ code: 'PARTITION_FILLING' });
  await store.close();
});

test('a child that is created again gets no record that its parents refuse', async () => {
  await using folder = await scratchFolder();
  const store = await opened(folder.path);
  const ring = copying(reshapes.split);
  await filled(store, ring, () => Promise.resolve());
  await store.raiseBarrier(keyspace, 0, 100);
  await store.raiseFloor(keyspace, 0, 100);
  const [child = -1] = reshapeMappingOf(ring).parents.keys();
  const key = keyOf(0);
  expect(partitionerOf(reshapes.split)(key)).toBe(child);
  await store.drop(keyspace, child); // as for a damaged file
  await store.create(keyspace, child, 'lost');
  const old = { keyspace, partition: 0, key, value: Buffer.from('deleted'), ms: 50, tie: 1 };
  expect(await store.write([old])).toMatchObject([{ kind: 'stale' }]);
  expect(store.read(keyspace, child, key)).toBeNull();
  await store.close();
});
