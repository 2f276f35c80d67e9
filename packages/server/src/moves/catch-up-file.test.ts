// Incremental catch-up of a partition that returns to a device with its old file: which records
// travel, and when the whole file is copied instead.
import { seededRandom } from '@ringwright/base/random';
import { describe, expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { firstMs, StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { type Loaded, loadPartition } from './load-partition.ts';

/** Partition 0 moved from device 2 to device 3, and is moving back. */
const first = servedRing({ power: 0 });
const there = moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }]);
const back = moveVersions(there[2], [{ partition: 0, replica: 2, from: 3, to: 2 }]);
const records = Object.fromEntries(
  Array.from({ length: 200 }, (_, index) => [`key ${index}`, `value ${index}`]),
);

/** The old holder and its successor with the same records, and the calls that the successor got. */
async function returning(): Promise<{
  readonly cluster: StoreCluster;
  readonly old: StoreDevice;
  readonly source: StoreDevice;
  readonly asked: string[];
}> {
  const cluster = await StoreCluster.open([first, ...there, ...back]);
  await cluster.create(0, [0, 1, 3]);
  await cluster.create(0, [2], 'filling');
  const [, , old, source] = cluster.devices;
  for (const device of cluster.devices) await device.put(0, records);
  const asked: string[] = [];
  source!.onCall = (method) => void asked.push(method);
  cluster.activate(6);
  return { cluster, old: old!, source: source!, asked };
}

async function load({
  active,
  store,
  devices,
  decide,
  throttle,
  partial,
}: StoreDevice): Promise<Loaded> {
  const move = active.ring.moves[0]!;
  const task = { active, partition: 0, move, isReturning: true, onProgress: () => undefined };
  return loadPartition({ store, devices, decide, throttle, partial }, task);
}

const write = (key: string, value: string | null, ms: number) => ({
  ...{ keyspace: 'cities', partition: 0, key: Buffer.from(key), tie: 5 },
  ...{ value: value === null ? null : Buffer.from(value), ms: firstMs + ms },
});

describe('the old file is updated', () => {
  test('without any record if it missed nothing', async () => {
    const { cluster, old, asked } = await returning();
    await using _ = cluster;
    expect(await load(old)).toEqual({ copy: null, merged: [3] });
    expect(asked.slice(0, 2)).toEqual(['digests', 'rows']);
    for (const method of ['read', 'copy-open']) expect(asked).not.toContain(method);
  });

  test('by only the records that were written, changed or deleted meanwhile', async () => {
    const { cluster, old, source, asked } = await returning();
    await using _ = cluster;
    const random = seededRandom(20_261_121);
    const changed = Array.from({ length: 20 }, () => random.below(199));
    await source.store.write([
      ...changed.map((index) => write(`key ${index}`, `newer ${index}`, 500)),
      write('key 199', null, 900),
      write('new', '1', 0),
    ]);
    await old.store.write([write('own', '1', 0), write('key 0', 'newest', 1_000)]);
    expect(await load(old)).toEqual({ copy: null, merged: [3] });
    const distinct = new Set([...changed, 199, 'new']);
    distinct.delete(0);
    expect(asked.filter((method) => method === 'read')).toHaveLength(distinct.size);
    expect(asked).not.toContain('copy-open');
    for (const index of changed) {
      expect(old.value(0, `key ${index}`)).toBe(index === 0 ? 'newest' : `newer ${index}`);
    }
    expect(['key 199', 'new', 'own'].map((key) => old.value(0, key))).toEqual([null, '1', '1']);
  });

  test('and gets a record that is written during the catch-up', async () => {
    const { cluster, old, source } = await returning();
    await using _ = cluster;
    await source.store.write([write('early', '1', 0)]);
    source.onCall = async (method) => {
      if (method === 'read') await source.store.write([write('late', '1', 0)]);
    };
    await load(old);
    expect([old.value(0, 'early'), old.value(0, 'late')]).toEqual(['1', '1']);
  });
});

describe('the whole file is copied', () => {
  test('if the old file missed too much', async () => {
    const { cluster, old, source } = await returning();
    await using _ = cluster;
    const many = Array.from({ length: 150 }, (_, index) => write(`key ${index}`, 'newer', 500));
    await source.store.write(many);
    expect((await load(old)).copy).toMatchObject({ device: 3, rows: 200 });
    expect(old.value(0, 'key 149')).toBe('newer');
  });

  test('if the source has purged deletions that the old file missed', async () => {
    const { cluster, old, source } = await returning();
    await using _ = cluster;
    await source.store.write([write('key 7', null, 900)]);
    for (const { store } of [source, ...cluster.devices.slice(0, 2)]) {
      await store.raiseBarrier('cities', 0, firstMs + 1_000);
      await store.raiseFloor('cities', 0, firstMs + 1_000);
    }
    expect((await load(old)).copy).toMatchObject({ device: 3 });
    expect(old.info(0)?.floorMs).toBe(firstMs + 1_000);
  });
});
