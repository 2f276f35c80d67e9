// One message with many writes at a device: a write that fails fails alone.
import { packWrites } from '@ringwright/wire/packed-writes';
import { writeKinds } from '@ringwright/wire/records';
import { expect, test } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { firstMs, StoreCluster } from '../../../../test/support/store-cluster.ts';
import { answerWrites } from './write-answers.ts';

const nobody = { call: () => Promise.reject(new Error('rings come otherwise')) };
const about = { keyspace: 'cities', ringVersion: 1 };

test('each write of a message is stored or refused by itself', async () => {
  const ring = servedRing({ devices: 3, power: 2 });
  await using cluster = await StoreCluster.open([ring]);
  const [device] = cluster.devices;
  const { partitionOf } = device!.active;
  const keys = Array.from({ length: 64 }, (_, index) => Buffer.from(`key ${index}`));
  const of = (partition: number): Buffer[] => keys.filter((key) => partitionOf(key) === partition);
  for (const partition of [0, 1]) await cluster.create(partition, [0]);
  const [first, second] = of(0);
  const write = (partition: number, key: Buffer, ms = firstMs) => {
    return { partition, key, value: Buffer.from('value'), ms, tie: 0 };
  };
  await device!.store.write([
    { ...about, ...write(0, second!, firstMs + 5) },
    { ...about, ...write(1, of(1)[0]!, firstMs + 9), value: null, isPreparedBallot: true },
  ]);
  const writes = [
    write(0, first!),
    write(0, second!), // older than the stored record
    write(1, of(1)[0]!), // older than a promise
    write(2, of(2)[0]!), // no file
    { ...write(2, of(2)[0]!), repair: true as const }, // of a read that shows a record
    write(0, of(1)[1]!), // its key is of another partition
    write(1, of(1)[1]!),
  ];
  const request = { ...about, writes: packWrites(writes) };
  const ports = { ...device!.replica, onBug: () => expect.fail() };
  const answer = await answerWrites(ports, request, nobody);
  expect([...answer.kinds].map((kind) => writeKinds[kind])).toEqual([
    ...['stored', 'stale', 'promised', 'failed', 'failed', 'failed', 'stored'],
  ]);
  expect(answer.stamps).toEqual([
    { ms: firstMs + 5, tie: 0 },
    { ms: firstMs + 9, tie: 0 },
  ]);
  const codes = ['PARTITION_FILLING', 'PARTITION_FILLING', 'KEY_MISPLACED'];
  expect(answer.errors).toMatchObject(codes.map((code) => ({ code })));
  expect(device!.value(0, first!.toString())).toBe('value');
  expect(device!.value(1, of(1)[1]!.toString())).toBe('value');
  expect(device!.value(0, of(1)[1]!.toString())).toBeNull();
});

test('an error without a code fails its write alone, and is reported here', async () => {
  const ring = servedRing({ devices: 1, replicas: 1, power: 0 });
  await using cluster = await StoreCluster.open([ring]);
  await cluster.create(0, [0]);
  const bug = new TypeError('nothing there');
  const exchange = {
    reached: () => {
      throw bug;
    },
  };
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  const ports = { ...cluster.devices[0]!.replica, exchange, onBug } as never;
  const write = { partition: 0, key: Buffer.from('key'), value: null, ms: firstMs, tie: 0 };
  const answer = await answerWrites(ports, { ...about, writes: packWrites([write]) }, nobody);
  expect(answer.errors).toMatchObject([{ code: 'PEER_FAILED' }]);
  expect(bugs).toEqual([bug]);
});

test('bytes that are not packed writes are refused as a whole', () => {
  const request = { ...about, writes: Uint8Array.of(1, 2, 3) };
  expect(() => answerWrites({} as never, request, nobody)).toThrow('cannot be read');
});
