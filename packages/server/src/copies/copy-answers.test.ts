// Tests how long a source keeps a snapshot that another device copies.
import { copyIdleMsMax } from '@ringwright/base/limits-copies';
import { expect, test, vi } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { StoreCluster } from '../../../../test/support/store-cluster.ts';
import { CopySource } from './copy-answers.ts';
import { freeThrottle } from './throttle-control.ts';

const first = servedRing({ power: 0 });
const versions = [first, ...moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }])];

test('a copy that is idle for longer than copyIdleMsMax is released', async () => {
  await using cluster = await StoreCluster.open(versions);
  await cluster.create(0, [2]);
  cluster.activate(3);
  const { store, replica, throttle, active } = cluster.devices[2]!;
  const snapshot = await store.snapshot('cities', 0);
  const release = vi.spyOn(snapshot, 'release');
  vi.spyOn(store, 'snapshot').mockResolvedValue(snapshot);
  let nowMs = 0;
  const throttling = { monotonicMs: () => nowMs, loadThrottle: () => freeThrottle };
  const source = new CopySource({ ...replica, ...throttling, throttle });
  const { keyspace, version: ringVersion } = active.ring;
  const [move] = active.ring.moves;
  const { copy } = await source.open(
    { keyspace, ringVersion, partition: 0, device: 3, assignment: move!.assignment },
    { call: () => Promise.reject(new Error('nobody asks back')) },
  );
  nowMs += copyIdleMsMax;
  await source.read({ copy, offset: 0, length: 1 });
  nowMs += copyIdleMsMax;
  await source.releaseIdle();
  expect(release).not.toHaveBeenCalled();
  nowMs += 1;
  await source.releaseIdle();
  expect(release).toHaveBeenCalledTimes(1);
  const late = source.read({ copy, offset: 0, length: 1 });
  await expect(late).rejects.toMatchObject({ code: 'MOVE_UNKNOWN' });
});
