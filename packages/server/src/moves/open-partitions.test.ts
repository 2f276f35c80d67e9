// The first files of a device are empty and ready only if nobody knows of records. Damaged files
// begin again.

import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { openStore } from '@ringwright/partition/open-store';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { replaceDamaged } from '../repair/replace-damaged.ts';
import { CompleteFiles } from './complete-files.ts';
import { openPartitions } from './open-partitions.ts';

const ring = servedRing({ devices: 3, power: 1 });

async function opening(
  device: StoreDevice,
  nonHolderOf: readonly number[] = [],
  silent: readonly number[] = [],
) {
  const { store, devices, active } = device;
  const isUnknownPeer = (_active: unknown, id: number): Promise<boolean> =>
    silent.includes(id)
      ? Promise.reject(new CodedError('PEER_UNREACHABLE', 'it has just gone'))
      : Promise.resolve(nonHolderOf.includes(id));
  const held = await CompleteFiles.load(store.directory);
  const ports = { store, devices, isUnknownPeer, held, onRepair: () => undefined };
  const undecided = await openPartitions(ports, active, [0, 1]);
  return { undecided, states: [0, 1].map((partition) => device.info(partition)?.state ?? 'none') };
}

/** Notes the files as complete, like a pass of the reconciler. */
async function noteHeld({ store, active }: StoreDevice, partitions: readonly number[]) {
  const held = await CompleteFiles.load(store.directory);
  await held.follow(active, new Map(partitions.map((partition) => [partition, 'ready'])));
}

const rule = { confirmed: 0, isBusy: () => false, onRepair: () => undefined };

describe('a device without files', () => {
  test('in a new cluster begins empty and ready', async () => {
    await using cluster = await StoreCluster.open([ring]);
    expect(await opening(cluster.devices[0]!)).toEqual({
      undecided: [],
      states: ['ready', 'ready'],
    });
  });

  test.each(['ready', 'filling'] as const)(
    'refills a partition if a %s holder has records of it',
    async (state) => {
      await using cluster = await StoreCluster.open([ring]);
      await cluster.create(0, [1], state);
      await cluster.create(1, [1], state);
      await cluster.devices[1]!.put(1, { a: '1' });
      cluster.devices[2]!.up = false;
      expect((await opening(cluster.devices[0]!)).states).toEqual(['ready', 'filling']);
    },
  );

  test('has lost its files if a peer remembers another directory in its place', async () => {
    await using cluster = await StoreCluster.open([ring]);
    expect((await opening(cluster.devices[0]!, [2])).states).toEqual(['lost', 'lost']);
  });

  test('does not count a peer that does not say what it remembers', async () => {
    await using cluster = await StoreCluster.open([ring]);
    await cluster.create(1, [1], 'ready');
    await cluster.devices[1]!.put(1, { a: '1' });
    const [device] = cluster.devices;
    expect(await opening(device!, [], [1, 2])).toEqual({
      undecided: [0, 1],
      states: ['none', 'none'],
    });
    expect((await opening(device!, [], [1])).states).toEqual(['ready', 'ready']);
  });

  test('waits for a peer that still has an older version of the ring', async () => {
    await using cluster = await StoreCluster.open([ring]);
    const [device, peer] = cluster.devices;
    peer!.onCall = () => {
      throw new CodedError('RING_VERSION_UNKNOWN', 'the caller has version 2, this server has 1');
    };
    const nothing = { undecided: [0, 1], states: ['none', 'none'] };
    expect(await opening(device!), 'though the other one knows of no records').toEqual(nothing);
    peer!.onCall = () => {
      throw new CodedError('RING_UNKNOWN', 'no ring is here');
    };
    expect((await opening(device!)).states).toEqual(['ready', 'ready']);
  });

  test('has lost the files that its directory held, even if no peer knows of them', async () => {
    await using cluster = await StoreCluster.open([ring]);
    const [device] = cluster.devices;
    await noteHeld(device!, [1]);
    expect((await opening(device!)).states).toEqual(['ready', 'lost']);
    for (const partition of [0, 1]) await device!.store.drop('cities', partition);
    for (const { id } of cluster.devices) cluster.devices[id]!.up = false;
    expect(await opening(device!)).toEqual({ undecided: [0], states: ['none', 'lost'] });
  });

  test('decides nothing while no peer answers', async () => {
    await using cluster = await StoreCluster.open([ring]);
    cluster.devices[1]!.up = false;
    cluster.devices[2]!.up = false;
    expect(await opening(cluster.devices[0]!)).toEqual({
      undecided: [0, 1],
      states: ['none', 'none'],
    });
  });

  test('in a ring of one replica begins ready, or lost if it held the file before', async () => {
    const single = servedRing({ devices: 2, replicas: 1, power: 1 });
    await using cluster = await StoreCluster.open([single]);
    const [device] = cluster.devices;
    await opening(device!);
    expect(device!.info(0)?.state).toBe('ready');
    // A partition that it held must not begin empty: no other device has its records.
    await noteHeld(device!, [0]);
    await device!.store.drop('cities', 0);
    await device!.store.drop('cities', 1);
    expect((await opening(device!)).states).toEqual(['lost', 'ready']);
  });
});

describe('damaged files', () => {
  /** A store of `count` partitions; the first `damaged` were overwritten while it was closed. */
  async function damagedStore(directory: string, count: number, damaged: number) {
    let lives = 0;
    const newIncarnation = (): string => `life-${(lives += 1)}`;
    const options = { directory, newIncarnation, limits: { diskReserveBytes: 0 } };
    const before = await openStore(options);
    for (let partition = 0; partition < count; partition += 1) {
      await before.create('cities', partition, 'ready');
      const record = { key: Buffer.from('key'), value: Buffer.from('value'), ms: 1, tie: 1 };
      await before.write([{ keyspace: 'cities', partition, ...record }]);
    }
    await before.close();
    const files = await readdir(directory, { recursive: true });
    const broken = Array.from({ length: damaged }, (_, partition) =>
      files.find((file) => new RegExp(`cities/0*${partition}/.*data\\.db$`).test(file)),
    );
    for (const file of broken)
      await writeFile(join(directory, file ?? 'no such file'), 'x'.repeat(9_000));
    return openStore(options);
  }

  test('are replaced by files in state lost if only one of many is damaged', async () => {
    await using folder = await scratchFolder();
    await using store = await damagedStore(folder.path, 4, 1);
    expect(store.damaged().map(({ partition }) => partition)).toEqual([0]);
    const active = activeOn(servedRing({ devices: 3, power: 2 }), 0);
    await replaceDamaged(store, active, rule);
    expect(store.info('cities', 0)?.state).toBe('lost');
    expect(store.damaged()).toEqual([]);
  });

  test('are not replaced if there are many at once', async () => {
    await using folder = await scratchFolder();
    await using store = await damagedStore(folder.path, 4, 3);
    const active = activeOn(servedRing({ devices: 3, power: 2 }), 0);
    await expect(replaceDamaged(store, active, rule)).rejects.toThrow(/3 of 4 files/);
    expect(store.damaged()).toHaveLength(3);
  });

  test('are not replaced one by one while earlier ones have not refilled', async () => {
    await using folder = await scratchFolder();
    await using store = await damagedStore(folder.path, 8, 2);
    const active = activeOn(servedRing({ devices: 3, power: 3 }), 0);
    // The scrub finds one damaged file at a time.
    const found = vi.spyOn(store, 'damaged');
    onTestFinished(() => found.mockRestore());
    const [first, second] = store.damaged();
    found.mockReturnValue([first!]);
    await replaceDamaged(store, active, rule);
    expect(store.info('cities', 0)?.state).toBe('lost');
    found.mockReturnValue([second!]);
    await expect(replaceDamaged(store, active, rule)).rejects.toThrow(
      /1 of 8 files .* are damaged, and 1 more wait to be refilled/,
    );
    await store.setState('cities', 0, 'ready');
    await replaceDamaged(store, active, rule);
    expect(store.info('cities', 1)?.state).toBe('lost');
  });

  test('are not replaced in a ring of one replica or without this device', async () => {
    await using folder = await scratchFolder();
    await using store = await damagedStore(folder.path, 2, 1);
    const single = servedRing({ devices: 2, replicas: 1, power: 1 });
    await replaceDamaged(store, activeOn(single, 0), rule);
    await replaceDamaged(store, { ...activeOn(ring, 0), self: null }, rule);
    expect(store.damaged()).toHaveLength(1);
  });
});
