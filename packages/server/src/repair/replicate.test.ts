// Replication between real files: digests become equal, and nothing counts as confirmed too early.
import { seededRandom } from '@ringwright/base/random';
import { PartitionFile } from '@ringwright/partition/file/partition-file';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import { digests, offer, push } from '@ringwright/wire/replication';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { firstMs, StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { Replicator } from './replicate.ts';

const ring = servedRing({ devices: 3, power: 1 });
const placeOf = partitionerOf(ring.partitioner);
/** Keys of partition 0. */
const names = Array.from({ length: 1_000 }, (_, index) => `key ${index}`).filter(
  (name) => placeOf(Buffer.from(name)) === 0,
);

function replicatorOf(device: StoreDevice, cluster: Pick<StoreCluster, 'nowMs'>) {
  const pushed: number[] = [];
  const errors: string[] = [];
  const behind: number[] = [];
  const replicator = new Replicator({
    store: device.store,
    devices: device.devices,
    decide: device.decide,
    nowMs: cluster.nowMs,
    onMissedDeletions: (_, partition) => Promise.resolve(void behind.push(partition)),
    onPushed: (rows) => pushed.push(rows),
    onError: (id, error) => errors.push(`d${id} ${String((error as { code?: string }).code)}`),
  });
  return { replicator, pushed, errors, behind, round: () => replicator.round(device.active) };
}

async function opened(): Promise<StoreCluster> {
  const cluster = await StoreCluster.open([ring]);
  for (const partition of [0, 1]) await cluster.create(partition, [0, 1, 2]);
  return cluster;
}

const digestsOf = (cluster: StoreCluster, partition: number): Set<string | undefined> =>
  new Set(cluster.devices.map((device) => device.info(partition)?.digest));

/** Checks that each peer holds all rows up to its watermarks, or newer ones. */
function expectTrueWatermarks({ devices }: StoreCluster): void {
  for (const device of devices) {
    for (const peer of devices) {
      if (peer === device) continue;
      for (const partition of [0, 1]) {
        const mark = `d${peer.id}/${peer.info(partition)?.incarnation}`;
        const confirmed = device.store.peers.confirmed({ keyspace: 'cities', partition }, mark);
        const bounds = { rowsMax: 1_000_000, bytesMax: 1e9 };
        const { rows } = device.store.rowsSince('cities', partition, 0, bounds);
        for (const row of rows.filter(({ seq }) => seq <= confirmed)) {
          const there = peer.store.read('cities', partition, row.key);
          expect(there === null ? 0 : there.ms * 2 ** 20 + there.tie).toBeGreaterThanOrEqual(
            row.ms * 2 ** 20 + row.tie,
          );
        }
      }
    }
  }
}

describe('rounds', () => {
  test.each([1, 2, 3])('converge on random histories, then ask nothing: seed %i', async (seed) => {
    const random = seededRandom(seed);
    await using cluster = await opened();
    const replicators = cluster.devices.map((device) => replicatorOf(device, cluster));
    for (let step = 0; step < 6; step += 1) {
      for (const device of cluster.devices) {
        if (random.below(4) === 0) continue;
        const keys = Array.from({ length: random.below(40) }, () =>
          Buffer.from(`key ${random.below(120)}`),
        );
        const writes = keys.map((key) => ({
          keyspace: 'cities',
          partition: placeOf(key),
          key,
          value: random.below(5) === 0 ? null : Buffer.alloc(random.below(300), step),
          ms: firstMs + random.below(1_000),
          tie: random.below(50) * 4 + device.id,
        }));
        await device.store.write(writes);
      }
      const away = cluster.devices[random.below(4)];
      if (away !== undefined) away.up = false;
      await replicators[random.below(3)]?.round();
      if (away !== undefined) away.up = true;
      expectTrueWatermarks(cluster);
    }
    for (let round = 0; round < 2; round += 1) for (const one of replicators) await one.round();
    expect([digestsOf(cluster, 0).size, digestsOf(cluster, 1).size]).toEqual([1, 1]);
    expectTrueWatermarks(cluster);
    const asked: string[] = [];
    for (const device of cluster.devices) device.onCall = (method) => void asked.push(method);
    for (let round = 0; round < 2; round += 1) for (const one of replicators) await one.round();
    expect(asked.filter((method) => method !== digests.method)).toEqual([]);
    asked.length = 0;
    for (const one of replicators) await one.round();
    expect(asked, 'a quiet cluster').toEqual([]);
  });

  test.each([
    ['by its last rows if it has all of them', true],
    ['by an offer if one of them is missing', false],
  ])('compare the old records of a new file %s', async (_, isWhole) => {
    await using cluster = await opened();
    const [a, b] = cluster.devices;
    // Over more seconds than the sums cover, so only the rows can show it.
    const writes = names.slice(0, 300).map((name, index) => {
      const key = Buffer.from(name);
      return {
        keyspace: 'cities',
        partition: 0,
        key,
        value: key,
        ms: firstMs + 100 * index,
        tie: 0,
      };
    });
    await a!.store.write(writes);
    await b!.store.write(isWhole ? writes : writes.slice(1));
    await b!.store.write([{ ...writes[5]!, ms: firstMs + 40_000 }]);
    const asked = new Set<string>();
    b!.onCall = (method) => void asked.add(method);
    await replicatorOf(a!, { nowMs: () => firstMs + 60_000 }).round();
    expect(asked.has(offer.method)).toBe(!isWhole);
    expect(asked.has(push.method)).toBe(!isWhole);
    const mark = `d1/${b!.info(0)?.incarnation}`;
    const confirmed = a!.store.peers.confirmed({ keyspace: 'cities', partition: 0 }, mark);
    expect(confirmed).toBe(a!.info(0)?.seq);
    expect(b!.info(0)?.rows).toBe(300);
    expectTrueWatermarks(cluster);
  });

  test('offer no key that all holders were given, only keys that one missed', async () => {
    await using cluster = await opened();
    const offers: number[] = [];
    for (const device of cluster.devices) {
      device.onCall = (method) => void (method === offer.method && offers.push(device.id));
    }
    const replicators = cluster.devices.map((device) => replicatorOf(device, cluster));
    const rounds = async (): Promise<number[]> => {
      for (const { round } of replicators) await round();
      return offers.splice(0);
    };
    /** Gives these devices 20 writes of one second, with the keys from index `from` on. */
    const give = async (second: number, from: number, to: readonly number[]): Promise<void> => {
      const writes = Array.from({ length: 20 }, (_, index) => ({
        keyspace: 'cities',
        partition: 0,
        key: Buffer.from(names[from + index] ?? ''),
        value: Buffer.from(`${second}`),
        ms: firstMs + 1_000 * second,
        tie: index,
      }));
      for (const id of to) await cluster.devices[id]!.store.write(writes);
    };
    await give(0, 0, [0, 1, 2]);
    await rounds();
    // Too young to be offered, and at one device only, so that the digests never agree.
    await give((cluster.nowMs() - firstMs) / 1_000, 200, [0]);
    await give(1, 0, [0, 1, 2]);
    await give(2, 10, [0, 1, 2]);
    expect(await rounds()).toEqual([]);
    expectTrueWatermarks(cluster);
    await give(3, 100, [0, 2]);
    expect(await rounds(), 'a device that has it offers it to the one that missed it').toEqual([1]);
    expect(cluster.devices[1]!.value(0, names[100] ?? '')).toBe('3');
    expectTrueWatermarks(cluster);
  });

  test('send large values in several pushes', async () => {
    await using cluster = await opened();
    const [device] = cluster.devices;
    const large = Object.fromEntries(names.slice(0, 4).map((name) => [name, 'x'.repeat(700_000)]));
    await device!.put(0, large);
    const { round, pushed } = replicatorOf(device!, cluster);
    let pushes = 0;
    cluster.devices[1]!.onCall = (method) => {
      if (method === push.method) pushes += 1;
    };
    await round();
    expect(digestsOf(cluster, 0).size).toBe(1);
    expect(pushed).toEqual([4, 4]);
    expect(pushes).toBe(2);
  });

  test('leave young records to their own writes, and send the old ones before them', async () => {
    await using cluster = await opened();
    const [device, peer] = cluster.devices;
    await device!.put(0, { old: '1' });
    const about = { keyspace: 'cities', partition: 0, tie: 0 };
    await device!.store.write([
      { ...about, key: Buffer.from('young'), value: Buffer.from('1'), ms: cluster.nowMs() },
    ]);
    const { round } = replicatorOf(device!, cluster);
    await round();
    expect([peer!.value(0, 'old'), peer!.value(0, 'young')]).toEqual(['1', null]);
    expectTrueWatermarks(cluster);
  });

  test.each([
    ['by more than a peer takes', 3_600_000, null],
    ['by seconds', 10_000, '1'],
  ])('send the other records if one is ahead %s', async (_, aheadMs, there) => {
    await using cluster = await opened();
    const [device, peer] = cluster.devices;
    const [ahead = '', old = ''] = names;
    const about = { keyspace: 'cities', partition: 0, value: Buffer.from('1'), tie: 0 };
    const ms = cluster.nowMs() + aheadMs;
    await device!.store.write([{ ...about, key: Buffer.from(ahead), ms }]);
    await device!.put(0, { [old]: '1' });
    const { round, errors } = replicatorOf(device!, cluster);
    await round();
    expect([peer!.value(0, ahead), peer!.value(0, old), errors]).toEqual([there, '1', []]);
    expectTrueWatermarks(cluster);
  });

  test('start from the beginning for a peer with a new file', async () => {
    await using cluster = await opened();
    const [device, peer] = cluster.devices;
    await device!.put(0, { a: '1', b: '1' });
    const { round, replicator } = replicatorOf(device!, cluster);
    await round();
    await peer!.store.drop('cities', 0);
    await cluster.create(0, [1]);
    replicator.forget();
    await round();
    expect(peer!.value(0, 'a')).toBe('1');
  });

  test('send no records to a device whose file is being filled', async () => {
    const place = servedRing({ devices: 4, power: 1 });
    const moving = moveVersions(place, [{ partition: 0, replica: 0, from: 0, to: 3 }]);
    await using cluster = await StoreCluster.open([place, ...moving]);
    await cluster.create(0, [0, 1]);
    await cluster.create(0, [2, 3], 'filling');
    await cluster.devices[0]!.put(0, { a: '1' });
    cluster.activate(3);
    const { round } = replicatorOf(cluster.devices[0]!, cluster);
    await round();
    expect(cluster.devices.map((device) => device.value(0, 'a'))).toEqual(['1', '1', null, null]);
    // The joiner has loaded and the other one has refilled. Both get what they missed since.
    cluster.activate(4);
    for (const id of [2, 3]) await cluster.devices[id]!.store.setState('cities', 0, 'ready');
    await replicatorOf(cluster.devices[1]!, cluster).round();
    expect(cluster.devices.map((device) => device.value(0, 'a'))).toEqual(['1', '1', '1', '1']);
  });

  test('continue with the next partition after one is refused', async () => {
    await using cluster = await opened();
    const [device, peer] = cluster.devices;
    await device!.put(0, { a: '1' });
    await device!.put(1, { b: '1' });
    const { round, errors } = replicatorOf(device!, cluster);
    peer!.onCall = async (method) => {
      if (method !== offer.method) return;
      peer!.onCall = () => undefined;
      await peer!.store.drop('cities', 0);
    };
    await round();
    expect(errors).toEqual(['d1 PARTITION_FILLING']);
    expect(peer!.value(1, 'b')).toBe('1');
  });

  test('purge tombstones that a crash left below a floor, so that digests agree', async () => {
    await using cluster = await opened();
    for (const { store } of cluster.devices) {
      await store.write([
        {
          keyspace: 'cities',
          partition: 0,
          key: Buffer.from(names[0]!),
          value: null,
          ms: firstMs,
          tie: 0,
        },
      ]);
      await store.raiseBarrier('cities', 0, firstMs);
    }
    const [crashed, ...others] = cluster.devices;
    for (const { store } of others) await store.raiseFloor('cities', 0, firstMs);
    const drop = vi.spyOn(PartitionFile.prototype, 'dropTombstones');
    onTestFinished(() => drop.mockRestore());
    drop.mockImplementationOnce(() => {
      throw new Error('a crash');
    });
    await expect(crashed!.store.raiseFloor('cities', 0, firstMs)).rejects.toThrow('a crash');
    expect(digestsOf(cluster, 0).size).toBe(2);
    await replicatorOf(crashed!, cluster).round();
    expect(digestsOf(cluster, 0).size).toBe(1);
  });

  test('report a peer that is away, and serve the other one', async () => {
    await using cluster = await opened();
    const [device, peer, other] = cluster.devices;
    await device!.put(0, { a: '1' });
    peer!.up = false;
    const { round, errors } = replicatorOf(device!, cluster);
    await round();
    expect(errors).toEqual(['d1 PEER_UNREACHABLE']);
    expect(other!.value(0, 'a')).toBe('1');
  });
});

describe('a floor that was never promised here', () => {
  test.each([
    ['causes no refill if one peer alone reports it', [0], []],
    ['causes a refill if all other holders report it', [0, 2], [0]],
  ] as const)('%s', async (_, raised, refilled) => {
    await using cluster = await opened();
    for (const device of cluster.devices) await device.put(0, { [names[0] ?? '']: 'v' });
    for (const id of raised) {
      const { store } = cluster.devices[id] ?? {};
      await store?.raiseBarrier('cities', 0, firstMs + 1_000);
      await store?.raiseFloor('cities', 0, firstMs + 1_000);
    }
    const [, own] = cluster.devices;
    if (own === undefined) throw new Error('no device');
    const { round, behind } = replicatorOf(own, cluster);
    await round();
    expect([...new Set(behind)]).toEqual(refilled);
  });
});
