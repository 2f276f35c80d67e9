// Pushing long values: each message is read when the one before it has arrived.
import { valueBytesMax } from '@ringwright/base/limits';
import { push } from '@ringwright/wire/replication';
import { expect, test, vi } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { firstMs, StoreCluster } from '../../../../test/support/store-cluster.ts';
import { pushRows } from './push-rows.ts';

test('values wait on the disk until the message before theirs has arrived', async () => {
  await using cluster = await StoreCluster.open([servedRing({ devices: 3, power: 0 })]);
  await cluster.create(0, [0, 1]);
  const [from, to] = [cluster.devices[0]!, cluster.devices[1]!];
  for (let at = 0; at < 6; at += 1) {
    const record = { key: Buffer.from(`key ${at}`), value: Buffer.alloc(valueBytesMax, at) };
    await from.store.write([{ keyspace: 'cities', partition: 0, ...record, ms: firstMs, tie: at }]);
  }
  const reads = vi.spyOn(from.store, 'read');
  const readsBefore: number[] = [];
  to.onCall = (method) => {
    if (method === push.method) readsBefore.push(reads.mock.calls.length);
  };
  const { store, devices, decide, active } = from;
  const task = { active, partition: 0, device: 1, since: 0, nowMs: Number.POSITIVE_INFINITY };
  expect(await pushRows({ store, devices, decide }, task)).toEqual({ confirmed: 6, pushed: 6 });
  expect(readsBefore).toEqual([1, 2, 3, 4, 5, 6]);
  expect(to.info(0)?.digest).toBe(from.info(0)?.digest);
});
