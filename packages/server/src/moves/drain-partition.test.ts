// Drains of a partition: its file is dropped only once every holder has all of its records.
import { CodedError } from '@ringwright/base/coded-error';
import { noDeviceIn } from '@ringwright/ring/ring';
import { recordWrite } from '@ringwright/wire/records';
import { digests, offer, offerRowsMax, push, tail } from '@ringwright/wire/replication';
import { describe, expect, test } from 'vitest';
import { codeIn } from '../../../../test/support/refusal.ts';
import { activeOn, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { drainPartition } from './drain-partition.ts';

/** Partition 0 was on devices 0, 1, 2; device 3 has replaced device 2; then device 4 joins too. */
const first = servedRing({ power: 0, devices: 5 });
const moved = moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }]);
const [joined] = moveVersions(moved[2], [{ partition: 0, replica: 0, from: 0, to: 4 }]);
const versions = [first, ...moved, joined];

async function finalized(): Promise<StoreCluster> {
  const cluster = await StoreCluster.open(versions);
  await cluster.create(0, [0, 1, 2, 3]);
  cluster.activate(4);
  await cluster.devices[2]!.put(0, { a: '1', b: '1' });
  return cluster;
}

async function draining(
  device: StoreDevice,
  active = device.active,
  requireDropsAllowed = (): void => undefined,
) {
  const { store, devices, decide, inFlight } = device;
  const current = () => device.active;
  const ports = { store, devices, decide, inFlight, current, requireDropsAllowed };
  return drainPartition(ports, { active, partition: 0 }).then(() => 'drained', codeIn);
}

describe('the file is dropped', () => {
  test('after every holder has received the records that it lacked', async () => {
    await using cluster = await finalized();
    const [a, b, leaving, d] = cluster.devices;
    await a!.put(0, { a: 'newer' }, 9);
    expect(await draining(leaving!)).toBe('drained');
    expect(leaving!.info(0)).toBeNull();
    expect([a, b, d].map((device) => device!.value(0, 'b'))).toEqual(['1', '1', '1']);
    expect([a!.value(0, 'a'), d!.value(0, 'a')], 'a newer record stays').toEqual(['newer', '1']);
  });

  test('without an offer if the holders have all its records and later writes', async () => {
    await using cluster = await finalized();
    const [a, b, leaving, d] = cluster.devices;
    const methods = new Set<string>();
    for (const holder of [a, b, d]) {
      await holder!.put(0, { a: '1', b: '1' });
      // More rows than the first, short tail contains.
      const later = Array.from({ length: 300 }, (_, index) => [`later-${index}`, 'x']);
      await holder!.put(0, { ...Object.fromEntries(later), b: 'newer' }, 9);
      holder!.onCall = (method) => void methods.add(method);
    }
    expect(await draining(leaving!)).toBe('drained');
    expect([...methods].sort()).toEqual([digests.method, tail.method]);
  });

  test('after the holders have received a newer version of a record', async () => {
    await using cluster = await finalized();
    const [a, b, leaving, d] = cluster.devices;
    for (const holder of [a, b, d]) await holder!.put(0, { a: '1', b: '1' });
    await leaving!.put(0, { a: 'newer' }, 9);
    expect(await draining(leaving!)).toBe('drained');
    const values = [a, b, d].map((device) => device!.value(0, 'a'));
    expect(values).toEqual(['newer', 'newer', 'newer']);
  });

  test('after an offer of its last rows only, if a holder lacks one of these', async () => {
    await using cluster = await finalized();
    const [a, b, leaving, d] = cluster.devices;
    const many = Array.from({ length: 2 * offerRowsMax }, (_, index) => [`key-${index}`, 'x']);
    const rows = { a: '1', b: '1', ...Object.fromEntries(many) };
    let offers = 0;
    for (const holder of [a, b, d, leaving]) await holder!.put(0, rows);
    for (const holder of [a, b, leaving]) await holder!.put(0, { late: '1' }, 9);
    await d!.put(0, { later: '1' }, 10);
    d!.onCall = (method) => {
      if (method === offer.method) offers += 1;
    };
    expect(await draining(leaving!)).toBe('drained');
    expect({ late: d!.value(0, 'late'), offers }).toEqual({ late: '1', offers: 1 });
  });

  test('after offers of its records if the holders run an older version', async () => {
    await using cluster = await finalized();
    const [a, b, leaving, d] = cluster.devices;
    const offered: (StoreDevice | undefined)[] = [];
    for (const holder of [a, b, d]) {
      await holder!.put(0, { a: 'newer', b: '1' }, 9);
      holder!.onCall = (method) => {
        if (method === tail.method) throw new CodedError('WIRE_VERSION_UNKNOWN', 'older');
        if (method === offer.method) offered.push(holder);
      };
    }
    expect(await draining(leaving!)).toBe('drained');
    expect(new Set(offered)).toEqual(new Set([a, b, d]));
  });

  test('after the writes in flight at the ring change have ended', async () => {
    await using cluster = await finalized();
    const [, , leaving, d] = cluster.devices;
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = promise.then(() => leaving!.put(0, { late: '1' }, 9));
    void leaving!.inFlight.track('cities', 0, late);
    const work = draining(leaving!);
    resolve();
    expect(await work).toBe('drained');
    expect(d!.value(0, 'late')).toBe('1');
  });
});

describe('the file stays', () => {
  test('while drops are not allowed, even if that begins during the drain', async () => {
    await using cluster = await finalized();
    const leaving = cluster.devices[2]!;
    for (const allowed of [0, 1]) {
      let asked = 0;
      const stop = (): void => {
        if (asked === allowed) throw new CodedError('RING_FORK', 'stopped');
        asked += 1;
      };
      expect(await draining(leaving, leaving.active, stop)).toBe('RING_FORK');
      expect(leaving.info(0)).not.toBeNull();
    }
    expect(await draining(leaving)).toBe('drained');
  });

  test('on a server that no ring names, if the partition was split since', async () => {
    await using cluster = await finalized();
    const leaving = cluster.devices[2]!;
    const { ring } = leaving.active;
    const table = ring.table.map((row) => row.slice().fill(noDeviceIn(row)));
    leaving.active = { ...leaving.active, self: null, ring: { ...ring, table, moves: [] } };
    expect(await draining(leaving)).toBe('NOT_ENOUGH_REPLICAS');
    expect(leaving.info(0)).toMatchObject({ state: 'ready', rows: 2 });
  });

  test('while a holder is unreachable', async () => {
    await using cluster = await finalized();
    cluster.devices[1]!.up = false;
    expect(await draining(cluster.devices[2]!)).toBe('PEER_UNREACHABLE');
    expect(cluster.devices[2]!.info(0)?.rows).toBe(2);
  });

  test('while the file of a device in the table is filling', async () => {
    await using cluster = await finalized();
    await cluster.devices[3]!.store.setState('cities', 0, 'filling');
    expect(await draining(cluster.devices[2]!)).toBe('PARTITION_FILLING');
    expect(cluster.devices[2]!.info(0)).not.toBeNull();
  });

  test('while a holder has no file', async () => {
    await using cluster = await finalized();
    await cluster.devices[3]!.store.drop('cities', 0);
    expect(await draining(cluster.devices[2]!)).toBe('PARTITION_FILLING');
  });

  test('if a new ring gives the partition back during the drain', async () => {
    await using cluster = await finalized();
    const [, b, leaving] = cluster.devices;
    const old = leaving!.active;
    b!.onCall = (method) => {
      if (method === push.method) leaving!.active = activeOn(first, 2);
    };
    expect(await draining(leaving!, old)).toBe('RING_STALE');
    expect(leaving!.info(0)).not.toBeNull();
  });

  test('if another device joins during the drain, which lacks the records', async () => {
    await using cluster = await finalized();
    const [, b, leaving] = cluster.devices;
    const old = leaving!.active;
    b!.onCall = (method) => {
      if (method === push.method) leaving!.active = activeOn(joined, 2);
    };
    expect(await draining(leaving!, old)).toBe('RING_STALE');
    expect(leaving!.info(0)).not.toBeNull();
  });

  test('in state filling from the first step, so that a later ring makes it refill', async () => {
    await using cluster = await finalized();
    cluster.devices[1]!.up = false;
    await draining(cluster.devices[2]!);
    expect(cluster.devices[2]!.info(0)?.state).toBe('filling');
  });

  test('in state ready if the drain belongs to a ring that is no longer active', async () => {
    await using cluster = await finalized();
    const leaving = cluster.devices[2]!;
    const old = leaving.active;
    leaving.active = activeOn(first, 2);
    expect(await draining(leaving, old)).toBe('RING_STALE');
    expect(leaving.info(0)?.state).toBe('ready');
  });
});

test('a file that is being drained accepts no writes', async () => {
  await using cluster = await finalized();
  const [a, b, leaving] = cluster.devices;
  const record = { key: Buffer.from('k'), value: Buffer.from('v'), ms: 1, tie: 1 };
  const refusals: string[] = [];
  b!.onCall = async (method) => {
    if (method !== digests.method) return;
    for (const ringVersion of [3, 4]) {
      const request = { keyspace: 'cities', ringVersion, partition: 0, ...record };
      const { active, devices } = a!;
      try {
        await devices.call({ active, device: 2 }, recordWrite, request);
      } catch (error) {
        refusals.push(error instanceof CodedError ? error.code : String(error));
      }
    }
  };
  expect(await draining(leaving!)).toBe('drained');
  expect(refusals).toEqual(['RING_STALE', 'NOT_RESPONSIBLE']);
});
