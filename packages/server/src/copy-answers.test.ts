// Snapshots that a source holds for others: until they are read, and no longer.
import { copyIdleMsMax } from '@ringwright/base/limits-copies';
import type { Snapshot } from '@ringwright/partition/snapshot';
import { expect, test, vi } from 'vitest';
import { moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import { StoreCluster } from '../../../test/support/store-cluster.ts';
import { CopySource } from './copy-answers.ts';
import { freePace } from './pace-copies.ts';

const first = servedRing({ power: 0 });
const versions = [first, ...moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }])];

test('a copy whose hash somebody waits for is not idle, whoever else has it', async () => {
  await using cluster = await StoreCluster.open(versions);
  await cluster.create(0, [2]);
  cluster.activate(3);
  const { store, replica, throttle, active } = cluster.devices[2]!;
  const hashes = [0, 1].map(() => Promise.withResolvers<string>());
  let asked = 0;
  const snapshot = {
    manifest: { sourceIncarnation: 'i', seq: 1, bytes: 1, sha256: 'h', rows: 1, tombstones: 0 },
    sha256: () => hashes[asked++]!.promise,
    release: vi.fn(() => Promise.resolve()),
  };
  vi.spyOn(store, 'snapshot').mockResolvedValue(snapshot as unknown as Snapshot);
  let nowMs = 0;
  const pace = { monotonicMs: () => nowMs, loadPace: () => freePace };
  const source = new CopySource({ ...replica, ...pace, throttle });
  const { keyspace, version: ringVersion } = active.ring;
  const [move] = active.ring.moves;
  const { copy } = await source.open(
    { keyspace, ringVersion, partition: 0, device: 3, assignment: move!.assignment },
    { call: () => Promise.reject(new Error('nobody asks back')) },
  );
  const seals = hashes.map(() => source.seal({ copy }));
  hashes[0]!.resolve('h');
  await seals[0];
  nowMs += copyIdleMsMax + 1;
  await source.releaseIdle();
  expect(snapshot.release).not.toHaveBeenCalled();
  hashes[1]!.resolve('h');
  expect(await Promise.all(seals)).toEqual([{ sha256: 'h' }, { sha256: 'h' }]);
  nowMs += copyIdleMsMax + 1;
  await source.releaseIdle();
  expect(snapshot.release).toHaveBeenCalledTimes(1);
});
