// Small partitions travel packed in one message: all records or none, with the floor that stands
// for purged tombstones. Random histories are compared with a model.
import { CodedError } from '@ringwright/base/coded-error';
import { smallPartitionBytesMax, smallPartitionRowsMax } from '@ringwright/base/limits-copies';
import { seededRandom } from '@ringwright/base/random';
import { copyStart } from '@ringwright/wire/copies';
import { describe, expect, onTestFinished, test } from 'vitest';
import { codeIn } from '../../../../test/support/refusal.ts';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { firstMs, StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import type { LoadProgress } from './load-notes.ts';
import { loadPartition } from './load-partition.ts';

const first = servedRing({ power: 0 });
const versions = [first, ...moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }])];
const keyspace = 'cities';

interface Place {
  readonly cluster: StoreCluster;
  readonly source: StoreDevice;
  readonly joiner: StoreDevice;
}

/** Device 3 joins for device 2, whose carrier gives copies. */
async function joining(records: Readonly<Record<string, string>> = {}): Promise<Place> {
  const cluster = await StoreCluster.open(versions);
  onTestFinished(() => cluster[Symbol.asyncDispose]());
  await cluster.create(0, [0, 1, 2]);
  await cluster.create(0, [3], 'filling');
  const [, , source, joiner] = cluster.devices;
  source!.hasProcess = true;
  await source!.put(0, records);
  cluster.activate(3);
  return { cluster, source: source!, joiner: joiner! };
}

/** Resolves to the form of the copy, 'file' or 'packed', or to the code of the error. */
async function load(
  { source, joiner }: Pick<Place, 'source' | 'joiner'>,
  progress: Partial<LoadProgress> = {},
  how: { readonly isRefill?: boolean; readonly isReturning?: boolean } = {},
): Promise<string> {
  const { active, store, devices, decide, throttle, partial } = joiner;
  const onProgress = (change: Partial<LoadProgress>) => Object.assign(progress, change);
  const { isRefill = false, isReturning = false } = how;
  const move = isRefill ? null : (active.ring.moves[0] ?? null);
  const task = { active, partition: 0, move, isReturning, onProgress };
  const { onAnswer } = source;
  let form = 'file';
  source.onAnswer = (method, answer) => {
    if (method === copyStart.method && 'records' in (answer as object)) form = 'packed';
    return onAnswer(method, answer);
  };
  try {
    const { copy, merged } = await loadPartition(
      { store, devices, decide, throttle, partial },
      task,
    );
    if (!isRefill) expect({ device: copy?.device, merged }).toEqual({ device: 2, merged: [] });
    return form;
  } catch (error) {
    return codeIn(error);
  } finally {
    source.onAnswer = onAnswer;
  }
}

const many = (count: number, value = 'v'): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, value]));

/** Raises the floor at these holders; normally at all of them. */
async function raiseFloor(holders: readonly StoreDevice[], ms: number): Promise<void> {
  for (const { store } of holders) {
    await store.raiseBarrier(keyspace, 0, ms);
    await store.raiseFloor(keyspace, 0, ms);
  }
}

const holdersIn = ({ cluster }: Place): StoreDevice[] => cluster.devices.slice(0, 3);

async function audit(device: StoreDevice): Promise<void> {
  expect((await device.store.scrub(keyspace, 0)).findings).toEqual([]);
}

test('the records of a small partition come in the first answer, verified', async () => {
  const { source, joiner } = await joining(many(smallPartitionRowsMax));
  const progress: Partial<LoadProgress> = {};
  expect(await load({ source, joiner }, progress)).toBe('packed');
  const { digest, rows } = source.info(0)!;
  expect(joiner.info(0)).toMatchObject({ digest, rows, state: 'filling' });
  const bytes = source.store.copies.pack({ keyspace, partition: 0 })?.records.length;
  expect(progress).toMatchObject({ rows, bytes, copiesVerified: 1 });
  await audit(joiner);
});

test.each([
  ['records', many(smallPartitionRowsMax + 1)],
  ['bytes of values', { a: 'x'.repeat(smallPartitionBytesMax), b: 'x' }],
])('with more %s the file is copied', async (...[, records]) => {
  const { source, joiner } = await joining(records);
  expect(await load({ source, joiner })).toBe('file');
  expect(joiner.info(0)?.digest).toBe(source.info(0)?.digest);
  await audit(joiner);
});

const isRefill = { isRefill: true };

test.each([
  ['a refill', isRefill, 'filling'],
  ['a file that returns', { isReturning: true }, 'filling'],
  ['a file that has lost records', {}, 'lost'],
] as const)('%s gets another incarnation', async (...[, how, state]) => {
  const { cluster, source, joiner } = await joining(many(3));
  for (const { store } of cluster.devices.slice(0, 2)) {
    await store.write(
      ['key-0', 'key-1'].map((key, index) => ({
        ...{ keyspace, partition: 0, key: Buffer.from(key), value: Buffer.from('v') },
        ...{ ms: firstMs + index, tie: 0 },
      })),
    );
  }
  for (const device of cluster.devices) device.hasProcess = true;
  const [first] = cluster.devices;
  await joiner.store.setState(keyspace, 0, state);
  const before = joiner.info(0)?.incarnation;
  // A refill asks the first of the other slots.
  const asked = how === isRefill ? first! : source;
  expect(await load({ source: asked, joiner }, {}, how)).toBe('packed');
  expect(joiner.info(0)?.incarnation).not.toBe(before);
  expect(source.info(0)?.incarnation).not.toBe(joiner.info(0)?.incarnation);
});

test('packed records are merged with those of the joiner', async () => {
  const { source, joiner } = await joining(many(3));
  await joiner.put(0, { own: '1', 'key-0': 'newer' }, 9);
  expect(await load({ source, joiner })).toBe('packed');
  expect(['own', 'key-0', 'key-1'].map((key) => joiner.value(0, key))).toEqual(['1', 'newer', 'v']);
  await audit(joiner);
});

test('open promises of the source come with the records', async () => {
  const { source, joiner } = await joining(many(3));
  const promise = { keyspace, partition: 0, key: Buffer.from('p'), value: null };
  await source.store.write([{ ...promise, ms: firstMs, tie: 5, isPreparedBallot: true }]);
  expect(await load({ source, joiner })).toBe('packed');
  expect(joiner.store.preparedBallots(keyspace, 0)).toMatchObject([{ ms: firstMs, tie: 5 }]);
});

test('records that differ from the digest are discarded', async () => {
  const { source, joiner } = await joining(many(9));
  const before = joiner.info(0);
  source.onAnswer = (method, answer) =>
    method === copyStart.method ? { ...(answer as object), digest: '0'.repeat(16) } : answer;
  expect(await load({ source, joiner })).toBe('COPY_INVALID');
  expect(joiner.info(0)).toEqual(before);
});

test('an older source that refuses to copy an empty file does not stop the load', async () => {
  const { source, joiner } = await joining();
  source.onCall = (method) => {
    if (method === copyStart.method) throw new CodedError('COPY_NEEDLESS', 'it is empty');
  };
  expect(await load({ source, joiner })).toBe('file');
  await audit(joiner);
});

describe('a source that has purged tombstones', () => {
  const floor = firstMs + 5;

  test('sends its floor along with older records', async () => {
    const place = await joining(many(9));
    const { source, joiner } = place;
    await raiseFloor(holdersIn(place), floor);
    expect(await load({ source, joiner })).toBe('packed');
    const { digest } = source.info(0)!;
    expect(joiner.info(0)).toMatchObject({ digest, floorMs: floor, barrierMs: floor });
    await audit(joiner);
  });

  test('makes an older record of the joiner count as deleted', async () => {
    const place = await joining(many(9));
    const { source, joiner } = place;
    await raiseFloor(holdersIn(place), floor);
    await joiner.put(0, { late: 'deleted once' });
    expect(await load({ source, joiner })).toBe('packed');
    expect(joiner.value(0, 'late'), 'below the floor').toBeNull();
    expect(joiner.info(0)?.digest).toBe(source.info(0)?.digest);
    await audit(joiner);
  });

  test('does not affect newer records of the joiner', async () => {
    const place = await joining(many(9));
    const { source, joiner } = place;
    await raiseFloor(holdersIn(place), floor);
    const record = { keyspace, partition: 0, key: Buffer.from('key-0'), ms: floor + 1, tie: 0 };
    await joiner.store.write([{ ...record, value: Buffer.from('newer') }]);
    expect(await load({ source, joiner })).toBe('packed');
    expect(joiner.value(0, 'key-0')).toBe('newer');
    expect(joiner.info(0)).toMatchObject({ rows: 9, floorMs: floor, barrierMs: floor });
    await audit(joiner);
  });
});

describe('a source that lies about its floor', () => {
  test.each([
    ['the records of a small partition', 9],
    ['a file', smallPartitionRowsMax + 1],
  ])('and sends %s deletes nothing at the joiner', async (_, rows) => {
    const { source, joiner } = await joining(many(rows));
    await joiner.put(0, { acknowledged: 'v' });
    const before = joiner.info(0);
    await raiseFloor([source], firstMs + 1_000_000);
    expect(await load({ source, joiner })).toBe('COPY_INVALID');
    expect(joiner.info(0)).toEqual(before);
    expect(joiner.value(0, 'acknowledged')).toBe('v');
  });

  test('cannot keep writes out with a barrier in the future', async () => {
    const place = await joining(many(9));
    const { source, joiner } = place;
    await source.store.raiseBarrier(keyspace, 0, Date.now() + 1_000_000);
    expect(await load({ source, joiner })).toBe('COPY_INVALID');
    expect(joiner.info(0)?.barrierMs).toBe(0);
  });
});

const seeds =
  process.env['SEED'] === undefined ? [...Array(12).keys()] : [Number(process.env['SEED'])];

test.each(seeds)('a load matches the model (SEED=%i npx vitest run load-small)', async (seed) => {
  const random = seededRandom(seed);
  const place = await joining();
  const { source, joiner } = place;
  const model = new Map<string, { value: string | null; at: number }>();
  const write = async (device: StoreDevice, at: number): Promise<void> => {
    const key = `key-${random.below(12)}`;
    const value = random.below(4) === 0 ? null : `value-${at}`;
    const record = { keyspace, partition: 0, key: Buffer.from(key), ms: firstMs + at, tie: 0 };
    await device.store.write([{ ...record, value: value === null ? null : Buffer.from(value) }]);
    const held = model.get(key);
    if (held === undefined || held.at < at) model.set(key, { value, at });
  };
  const writes = random.below(60);
  for (let at = 1; at <= writes; at += 1) await write(source, at);
  const floorAt = random.below(2) * random.below(writes + 1);
  if (floorAt > 0) await raiseFloor(holdersIn(place), firstMs + floorAt);
  const times = random.below(3);
  const meanwhile = async (): Promise<void> => {
    // Like a coordinator: to both devices, with a stamp above every floor.
    const [before, at] = [new Map(model), writes + 1 + random.below(90)];
    await write(joiner, at);
    const [key, record] =
      [...model].find(([name, { at: now }]) => before.get(name)?.at !== now) ?? [];
    if (key === undefined || record === undefined) return;
    const value = record.value === null ? null : Buffer.from(record.value);
    const of = { keyspace, partition: 0, key: Buffer.from(key) };
    await source.store.write([{ ...of, value, ms: firstMs + at, tie: 0 }]);
  };
  const isCopy = (method: string): boolean => method === copyStart.method;
  if (times === 1) source.onCall = (method) => (isCopy(method) ? meanwhile() : undefined);
  const pending: Promise<void>[] = [];
  source.onAnswer = (method, answer) => {
    if (times === 2 && isCopy(method)) pending.push(meanwhile());
    return answer;
  };
  expect(await load({ source, joiner })).toBe('packed');
  await Promise.all(pending);
  for (const [key, { value }] of model) expect(joiner.value(0, key), key).toBe(value);
  const { digest, floorMs } = source.info(0)!;
  expect(joiner.info(0)).toMatchObject({ digest, floorMs });
  await audit(joiner);
});
