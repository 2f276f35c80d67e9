// What a peer has confirmed is remembered as long as a ring assigns the partition to both devices.
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { StoreCluster } from '../../../../test/support/store-cluster.ts';
import { Replicator } from './replicate.ts';

test('a peer that left a partition is forgotten, and asked again when it is back', async () => {
  const first = servedRing({ devices: 4, power: 1 });
  const there = moveVersions(first, [{ partition: 0, replica: 1, from: 1, to: 3 }]);
  const back = moveVersions(there[2], [{ partition: 0, replica: 1, from: 3, to: 1 }]);
  await using cluster = await StoreCluster.open([first, ...there, ...back]);
  await cluster.create(0, [0, 1, 2, 3]);
  await cluster.create(1, [1, 2, 3]);
  const [device] = cluster.devices;
  const { store, devices, decide } = device!;
  const none = (): void => undefined;
  const callbacks = { onMissedDeletions: () => Promise.resolve(), onPushed: none, onError: none };
  const replicator = new Replicator({ store, devices, decide, nowMs: cluster.nowMs, ...callbacks });
  const asked = new Set<number>();
  for (const peer of cluster.devices) peer.onCall = () => void asked.add(peer.id);
  const askedUnder = async (version: number): Promise<ReadonlySet<number>> => {
    cluster.activate(version);
    asked.clear();
    await replicator.round(device!.active);
    return new Set(asked);
  };
  expect(await askedUnder(1)).toEqual(new Set([1, 2]));
  expect(await askedUnder(1), 'nothing has changed').toEqual(new Set());
  expect(await askedUnder(4), 'nothing has changed between d0 and d2').toEqual(new Set([3]));
  expect(await askedUnder(7)).toEqual(new Set([1]));
});
