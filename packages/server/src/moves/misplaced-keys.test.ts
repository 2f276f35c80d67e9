// Attack: records for a partition to which their keys do not belong. No message stores them.
import { recordPrepare, recordWrite } from '@ringwright/wire/records';
import { offer, push } from '@ringwright/wire/replication';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { firstMs, StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { pushRows } from '../repair/push-rows.ts';
import { answerPrepare } from '../replica/prepare-answer.ts';
import { drainPartition } from './drain-partition.ts';
import { loadPartition } from './load-partition.ts';

/** Partition 0 is on devices 0, 1, 2; device 3 joins for device 2. */
const first = servedRing();
const versions = [first, ...moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }])];

async function open(): Promise<StoreCluster> {
  const cluster = await StoreCluster.open(versions);
  await cluster.create(0, [0, 1, 2]);
  return cluster;
}

/** Two keys of partition 0, or two of other partitions. */
function keys({ active }: StoreDevice, isOf0: boolean): [string, string] {
  const names = Array.from({ length: 100 }, (_, index) => `key-${index}`);
  const isWanted = (name: string): boolean =>
    (active.partitionOf(Buffer.from(name)) === 0) === isOf0;
  const [one = '', two = ''] = names.filter(isWanted);
  return [one, two];
}

const about = { keyspace: 'cities', ringVersion: 1, partition: 0 };
const rowOf = (key: string) => ({
  key: Buffer.from(key),
  value: Buffer.from('v'),
  ms: firstMs,
  tie: 1,
});
const misplaced = expect.objectContaining({ code: 'KEY_MISPLACED' });

test('a write, a promise and a push with a misplaced key are refused as a whole', async () => {
  await using cluster = await open();
  const device = cluster.devices[0]!;
  const [good] = keys(device, true);
  const [bad] = keys(device, false);
  await expect(device.answer(recordWrite.method, { ...about, ...rowOf(bad) })).rejects.toEqual(
    misplaced,
  );
  await expect(
    device.answer(recordWrite.method, { ...about, ...rowOf(bad), repair: true }),
  ).rejects.toEqual(misplaced);
  await expect(
    device.answer(push.method, { ...about, rows: [rowOf(good), rowOf(bad)] }),
  ).rejects.toEqual(misplaced);
  const { ms, tie } = rowOf(bad);
  const prepare = recordPrepare.request.parse({ ...about, key: Buffer.from(bad), ms, tie });
  const peer = { call: () => Promise.reject(new Error('nothing is asked back')) };
  await expect(answerPrepare(device.replica, prepare, peer)).rejects.toEqual(misplaced);
  expect([device.info(0)?.rows, device.info(0)?.seq]).toEqual([0, 0]);
  expect(device.store.preparedBallots('cities', 0)).toEqual([]);
  await device.answer(push.method, { ...about, rows: [rowOf(good)] });
  expect(device.value(0, good)).toBe('v');
});

/** Plants a misplaced key in a file, as an unknown peer could before such writes were refused. */
async function withPlanted(cluster: StoreCluster, id: number): Promise<[string, string]> {
  const device = cluster.devices[id]!;
  const [good] = keys(device, true);
  const [bad] = keys(device, false);
  await device.put(0, { [bad]: 'planted', [good]: 'v' });
  return [good, bad];
}

test('a planted record is not wanted by others, and does not block replication', async () => {
  await using cluster = await open();
  const [good, bad] = await withPlanted(cluster, 0);
  const [from, to] = cluster.devices as [StoreDevice, StoreDevice];
  const stamps = [bad, good].map((key) => [Buffer.from(key), firstMs, 0]);
  expect(await to.answer(offer.method, { ...about, stamps })).toMatchObject({ wanted: [1] });
  const { store, devices, decide, active } = from;
  const all = { active, partition: 0, since: 0, nowMs: Number.POSITIVE_INFINITY };
  const pushed = await pushRows({ store, devices, decide }, { ...all, device: 1 });
  expect(pushed).toEqual({ confirmed: from.info(0)?.seq, pushed: 1 });
  expect([to.value(0, good), to.value(0, bad)]).toEqual(['v', null]);
});

test('a planted record does not reach a joiner, and does not block the drain', async () => {
  await using cluster = await open();
  cluster.activate(3);
  await cluster.create(0, [3], 'filling');
  const [, , leaving, joiner] = cluster.devices as [unknown, unknown, StoreDevice, StoreDevice];
  const [early, late] = keys(leaving, true);
  const [, bad] = keys(leaving, false);
  await leaving.put(0, { [early]: 'v' });
  // Written while the file is copied, so it travels as rows.
  leaving.onCall = (method) =>
    method === 'copy-close' ? leaving.put(0, { [bad]: 'planted', [late]: 'v' }) : undefined;
  const { store, devices, decide, throttle, partial, active } = joiner;
  const move = active.ring.moves[0] ?? null;
  const task = { active, partition: 0, move, onProgress: () => undefined };
  await loadPartition({ store, devices, decide, throttle, partial }, task);
  expect([joiner.value(0, late), joiner.value(0, bad)]).toEqual(['v', null]);

  await store.setState('cities', 0, 'ready');
  cluster.activate(4);
  const ports = {
    ...{ store: leaving.store, devices: leaving.devices, decide, inFlight: leaving.inFlight },
    current: () => leaving.active,
    requireDropsAllowed: () => undefined,
  };
  await drainPartition(ports, { active: leaving.active, partition: 0 });
  expect(leaving.info(0)).toBeNull();
});
