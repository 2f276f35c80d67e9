// Records below the barrier of the holders: reads repair them, late writers cannot add them, and
// deleted records stay deleted.
import { setImmediate } from 'node:timers/promises';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { floorRaise } from '@ringwright/wire/floors';
import { recordWrite } from '@ringwright/wire/records';
import { expect, test } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { firstMs, StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { coordinateRead } from '../coordinate/coordinate.ts';
import type { CoordinatorPorts } from '../coordinate/with-newest-ring.ts';
import { RingRequests } from '../rings/ring-requests.ts';
import type { Rings } from '../rings/rings.ts';
import { raiseFloor } from './raise-floor.ts';

const keyspace = 'cities';
const key = Buffer.from('key');
const oldMs = firstMs - 10 * 3_600_000;
const floorMs = firstMs - 3_600_000;
const about = { keyspace, partition: 0, ringVersion: 1 };

async function openCluster(): Promise<StoreCluster> {
  const cluster = await StoreCluster.open([servedRing({ devices: 3, power: 0 })]);
  await cluster.create(0, [0, 1, 2]);
  return cluster;
}

function coordinatorOf({ active, devices, replica }: StoreDevice): CoordinatorPorts {
  const never = () => Promise.reject(new Error('no ring changes and no round is needed here'));
  const rings = { get: () => active } as unknown as Rings;
  const clock: HybridClock = replica.clock;
  const unused = { mutex: undefined as never, longWrites: undefined as never };
  const rest = { issueStamp: never, catchUp: never, backOff: never, ...unused };
  return { rings, requests: new RingRequests(), devices, clock, ...rest };
}

/** Reads with a quorum at device 0; null: no record is in force. */
async function read(cluster: StoreCluster): Promise<string | null> {
  const request = { keyspace, key, consistency: 'quorum' } as const;
  const record = await coordinateRead(coordinatorOf(cluster.devices[0]!), request);
  return record?.value ? Buffer.from(record.value).toString() : null;
}

async function put(cluster: StoreCluster, ids: readonly number[], value: string | null) {
  const bytes = value === null ? null : Buffer.from(value);
  const ms = value === null ? oldMs + 1 : oldMs;
  const row = { keyspace, partition: 0, key, value: bytes, ms, tie: 0 };
  for (const id of ids) await cluster.devices[id]!.store.write([row]);
}

test('a record below the barrier that one holder has is read and repaired', async () => {
  await using cluster = await openCluster();
  await put(cluster, [0], 'old');
  for (const { store } of cluster.devices) await store.raiseBarrier(keyspace, 0, floorMs);
  const [, one, two] = cluster.devices;
  two!.up = false;
  expect(await read(cluster)).toBe('old');
  expect(one!.value(0, 'key')).toBe('old');
  // A write that is so late is refused as before.
  const late = { ...about, key: Buffer.from('late'), value: null, ms: oldMs, tie: 1 };
  const to = { active: one!.active, device: 1 };
  await expect(one!.devices.call(to, recordWrite, late)).rejects.toThrow('is not above');
});

test('a key is readable while one holder has raised its floor and another has not', async () => {
  await using cluster = await openCluster();
  await put(cluster, [0, 1, 2], 'old');
  await put(cluster, [0, 1, 2], null);
  const [zero, one, two] = cluster.devices;
  one!.onCall = (method) => {
    if (method === floorRaise.method) throw new Error('it died');
  };
  const task = { active: zero!.active, partition: 0, floorMs };
  await expect(raiseFloor({ devices: zero!.devices }, task)).rejects.toThrow('it died');
  expect([zero!.info(0)?.floorMs, one!.info(0)?.floorMs]).toEqual([floorMs, 0]);
  two!.up = false;
  expect(await read(cluster)).toBeNull();
});

test('a repair that arrives after its record was deleted changes nothing', async () => {
  await using cluster = await openCluster();
  await put(cluster, [0], 'old');
  const [zero, one, two] = cluster.devices;
  two!.up = false;
  one!.onCall = async (method) => {
    if (method !== recordWrite.method) return;
    one!.onCall = () => undefined;
    // The same repair has not reached device 2.
    await setImmediate();
    two!.up = true;
    await put(cluster, [0, 1, 2], null);
    const task = { active: zero!.active, partition: 0, floorMs };
    expect(await raiseFloor({ devices: zero!.devices }, task)).toBe(true);
  };
  // The read began before the deletion, so it may show the value; no later one does.
  expect(await read(cluster)).toBe('old');
  expect(await read(cluster)).toBeNull();
  expect(cluster.devices.map((device) => device.info(0)?.rows)).toEqual([0, 0, 0]);
});
