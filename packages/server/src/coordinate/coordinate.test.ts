// The coordinator where two rings meet, and what it says of a write that failed, case by case.

import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import {
  SimulatedCluster,
  type SimulatedDevice,
  type SimulationOptions,
} from '../../../../test/support/simulated-cluster.ts';
import { writeByCall } from '../../../../test/support/write-by-call.ts';
import { changeKey } from './change-key.ts';
import { coordinateRead, coordinateWrite } from './coordinate.ts';

/** Partition 0 is on devices 0, 1, 2; device 3 replaces device 2; device 4 only coordinates. */
const first = servedRing({ devices: 5, power: 0 });
const versions = [first, ...moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }])];
const key = Buffer.from('key');
const about = { keyspace: 'cities', key, consistency: 'quorum' } as const;

const toFake = ['setTimeout', 'clearTimeout', 'Date'] as const;
beforeEach(() => vi.useFakeTimers({ now: 1_763_692_800_000, toFake: [...toFake] }));
afterEach(() => vi.useRealTimers());

const sound: SimulationOptions = { lossPercent: 0, takeover: true };

/** Everything at a version of the ring, the joiner loaded when it initializes. */
async function clusterAt(version: number, options: SimulationOptions = sound) {
  const cluster = new SimulatedCluster(7, versions, options);
  for (let step = 2; step <= version; step += 1) {
    for (const device of cluster.devices) device.activate(step);
    await vi.advanceTimersByTimeAsync(5_000);
  }
  return cluster;
}

async function soon<T>(work: MaybePromise<T>): Promise<T> {
  Promise.resolve(work).catch(() => undefined);
  await vi.advanceTimersByTimeAsync(60_000);
  return work;
}

async function write(device: SimulatedDevice | undefined, value: string | null): Promise<string> {
  const bytes = value === null ? null : Buffer.from(value);
  try {
    await soon(coordinateWrite(device!.coordinator, { ...about, value: bytes }));
    return 'acked';
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const { outcome } = error.details;
    return typeof outcome === 'string' ? `${error.code} ${outcome}` : error.code;
  }
}

async function read(device: SimulatedDevice | undefined): Promise<string> {
  try {
    const record = await soon(coordinateRead(device!.coordinator, about));
    return record?.value ? Buffer.from(record.value).toString() : 'nothing';
  } catch (error) {
    return error instanceof CodedError ? error.code : String(error);
  }
}

/** Puts a value on these devices only, newer than everything before. */
async function partly(cluster: SimulatedCluster, devices: readonly number[], value: string) {
  const stamp = { ms: Date.now() + 5_000, tie: 0 };
  for (const id of devices) cluster.devices[id]!.put({ key, value: Buffer.from(value), ...stamp });
}

describe('a slot in flight', () => {
  test('a slow joiner does not keep the two other slots from being a quorum', async () => {
    const cluster = await clusterAt(2);
    cluster.devices[3]!.up = false;
    expect(await write(cluster.devices[4], 'one')).toBe('acked');
    expect(await read(cluster.devices[0])).toBe('one');
  });

  test('its present device alone does not count', async () => {
    const cluster = await clusterAt(2);
    cluster.devices[3]!.up = false;
    cluster.devices[1]!.up = false;
    expect(await write(cluster.devices[0], 'one')).toBe('NOT_ENOUGH_REPLICAS unknown');
  });

  test('what its present device and one more have is written on before it is read', async () => {
    const cluster = await clusterAt(3);
    await write(cluster.devices[0], 'one');
    await partly(cluster, [1, 2], 'two');
    cluster.devices[0]!.up = false;
    expect(await read(cluster.devices[1])).toBe('two');
    cluster.devices[0]!.up = true;
    for (const device of cluster.devices) device.activate(4);
    await vi.advanceTimersByTimeAsync(5_000);
    cluster.devices[1]!.up = false;
    expect(await read(cluster.devices[0]), 'by the joiner, without device 2').toBe('two');
  });
});

describe('the old ring and the new one at once', () => {
  /** Devices 1 and 2 do not hear of version 4; they are a quorum of version 3. */
  async function apart(takeover: boolean) {
    const cluster = await clusterAt(3, { ...sound, takeover });
    cluster.cutOff = new Set([1, 2]);
    for (const id of [0, 3, 4]) cluster.devices[id]!.activate(4);
    await vi.advanceTimersByTimeAsync(5_000);
    return { wrote: await write(cluster.devices[4], 'new'), read: await read(cluster.devices[1]) };
  }

  test('the joiner does not count while a quorum of the old ring could miss it', async () => {
    expect(await apart(true)).toEqual({ wrote: 'NOT_ENOUGH_REPLICAS unknown', read: 'nothing' });
  });

  test('without that rule an acknowledged write is missed', async () => {
    expect(await apart(false)).toEqual({ wrote: 'acked', read: 'nothing' });
  });

  test('it counts when the device it replaces is dead and the others have the ring', async () => {
    const cluster = await clusterAt(3);
    cluster.devices[2]!.up = false;
    for (const id of [0, 1, 3, 4]) cluster.devices[id]!.activate(4);
    await vi.advanceTimersByTimeAsync(5_000);
    cluster.devices[1]!.up = false;
    expect(await write(cluster.devices[4], 'new')).toBe('acked');
  });

  test('a write of all slots waits for the joiner to count, and is one record', async () => {
    const cluster = await clusterAt(3);
    cluster.cutOff = new Set([1, 2]);
    for (const id of [0, 3, 4]) cluster.devices[id]!.activate(4);
    const asked = { ...about, consistency: 'all' } as const;
    const { coordinator } = cluster.devices[4]!;
    const wrote = coordinateWrite(coordinator, { ...asked, value: Buffer.from('one') });
    await vi.advanceTimersByTimeAsync(600);
    expect(cluster.devices[3]!.state, 'devices 1 and 2 may still be a quorum').toBe('filling');
    cluster.cutOff = new Set();
    const stamp = await soon(wrote);
    for (const id of [0, 1, 3]) expect(cluster.devices[id]!.rows.get('key')).toMatchObject(stamp);
    expect(await soon(coordinateRead(coordinator, asked))).toMatchObject(stamp);
  });

  test('for a moment only: a joiner that is cut off makes it fail, and it is told', async () => {
    const cluster = await clusterAt(3);
    cluster.cutOff = new Set([1, 2]);
    for (const id of [0, 3, 4]) cluster.devices[id]!.activate(4);
    const value = Buffer.from('one');
    const { coordinator } = cluster.devices[4]!;
    const wrote = coordinateWrite(coordinator, { ...about, consistency: 'all', value });
    await expect(soon(wrote)).rejects.toMatchObject({
      code: 'NOT_ENOUGH_REPLICAS',
      details: { outcome: 'unknown' },
    });
  });

  test('a coordinator that is behind fetches the ring and stores the same record', async () => {
    const cluster = await clusterAt(1);
    for (const id of [0, 1, 2, 3]) cluster.devices[id]!.activate(2);
    expect(cluster.devices[4]!.active.ring.version).toBe(1);
    expect(await write(cluster.devices[4], 'one')).toBe('acked');
    expect(cluster.devices[4]!.active.ring.version).toBe(2);
    const stamps = [0, 1, 2, 3].map((id) => cluster.devices[id]!.rows.get('key'));
    expect(new Set(stamps.map((row) => `${row?.ms} ${row?.tie}`)).size).toBe(1);
  });
});

describe('what is said of a write that failed', () => {
  test('a newer record is there: superseded, and the clock learns it', async () => {
    const cluster = await clusterAt(1);
    await partly(cluster, [0, 1, 2], 'later');
    expect(await write(cluster.devices[4], 'mine')).toBe('SUPERSEDED');
    expect(await write(cluster.devices[4], 'again')).toBe('acked');
    expect(await read(cluster.devices[4])).toBe('again');
  });

  test('a record from an hour ahead: its key is lost until then, and no other', async () => {
    const cluster = await clusterAt(1);
    const ahead = { key, value: Buffer.from('ahead'), ms: Date.now() + 3_600_000, tie: 0 };
    for (const device of cluster.devices) device.put(ahead);
    const { clock, coordinator } = cluster.devices[4]!;
    expect(await write(cluster.devices[4], 'mine')).toBe('SUPERSEDED');
    const request = { keyspace: 'cities', key, consistency: 'linearizable' as const };
    await expect(
      soon(coordinateWrite(coordinator, { ...request, value: Buffer.from('mine') })),
    ).rejects.toMatchObject({ code: 'CLOCK_BEHIND', details: { outcome: 'rejected' } });
    expect(clock.aheadMs(clock.next(4))).toBeLessThan(60_000);
  });

  test('refused by every device before it stored anything: rejected', async () => {
    const cluster = await clusterAt(1, { ...sound, wrongClock: 4 });
    expect(await write(cluster.devices[4], 'wrong clock')).toBe('NOT_ENOUGH_REPLICAS rejected');
    expect(await read(cluster.devices[0])).toBe('nothing');
  });

  test.each([
    ['stored on one device', [1, 2]],
    ['every answer lost or nobody there', [0, 1, 2]],
  ])('%s: unknown', async (_name, down) => {
    const cluster = await clusterAt(1);
    for (const id of down) cluster.devices[id]!.up = false;
    expect(await write(cluster.devices[4], 'x')).toBe('NOT_ENOUGH_REPLICAS unknown');
  });

  test.each<[ErrorCode, string | undefined, string]>([
    ['WIRE_VERSION_UNKNOWN', undefined, 'rejected'],
    ['STORE_CLOSED', undefined, 'rejected'],
    ['NOT_RESPONSIBLE', undefined, 'rejected'],
    ['DISK_FULL', undefined, 'rejected'],
    // The server left the ring.
    ['CALLER_UNPROVEN', undefined, 'rejected'],
    ['PEER_BUSY', 'rejected', 'rejected'],
    // The record may be there: its answer had no room, or it does not count yet.
    ['PEER_BUSY', 'unknown', 'unknown'],
    ['PEER_BUSY', undefined, 'unknown'],
    ['PARTITION_FILLING', undefined, 'unknown'],
    ['PARTITION_DAMAGED', undefined, 'unknown'],
    ['PEER_FAILED', undefined, 'unknown'],
  ])('every device says %s, outcome %s: %s', async (code, outcome, wanted) => {
    const cluster = await clusterAt(1);
    const device = cluster.devices[4]!;
    const details = outcome === undefined ? {} : { outcome };
    const call = (): Promise<never> => Promise.reject(new CodedError(code, 'no', { details }));
    const devices = { call, write: writeByCall(call) };
    const coordinator = { ...device.coordinator, devices };
    const work = soon(coordinateWrite(coordinator, { ...about, value: key }));
    await expect(work).rejects.toMatchObject({
      code: 'NOT_ENOUGH_REPLICAS',
      details: { outcome: wanted },
      hint: expect.stringContaining(
        code === 'CALLER_UNPROVEN' ? 'use one that it names' : 'health',
      ),
    });
  });

  test('stored by the joiner alone: unknown', async () => {
    const cluster = await clusterAt(2);
    for (const id of [0, 1, 2]) cluster.devices[id]!.up = false;
    expect(await write(cluster.devices[4], 'x')).toBe('NOT_ENOUGH_REPLICAS unknown');
    expect(cluster.devices[3]!.rows.size).toBe(1);
  });

  test('stored under an older ring, then refused by all: unknown, not rejected', async () => {
    const cluster = await clusterAt(1);
    for (const id of [0, 2]) cluster.devices[id]!.activate(2);
    const coordinator = cluster.devices[4]!;
    const { catchUp, ...ports } = coordinator.coordinator;
    const later: SimulatedDevice['coordinator'] = {
      ...ports,
      rings: { get: () => coordinator.active } as unknown as typeof ports.rings,
      catchUp: async (active, device) => {
        await catchUp(active, device);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        vi.setSystemTime(Date.now() - 600_000); // every replica now refuses the stamp
      },
    };
    const work = soon(coordinateWrite(later, { ...about, value: key }));
    await expect(work).rejects.toThrow(
      expect.objectContaining({ details: expect.objectContaining({ outcome: 'unknown' }) }),
    );
    expect([0, 1, 2, 3].map((id) => cluster.devices[id]!.rows.size)).toEqual([0, 1, 0, 0]);
  });

  test('a failed write that was seen once stays seen', async () => {
    const cluster = await clusterAt(1);
    await write(cluster.devices[0], 'one');
    await partly(cluster, [0], 'two');
    cluster.devices[2]!.up = false;
    expect(await read(cluster.devices[1])).toBe('two');
    cluster.devices[2]!.up = true;
    cluster.devices[0]!.up = false;
    expect(await read(cluster.devices[2])).toBe('two');
  });
});

describe('a round that was left half done', () => {
  const content = { value: Buffer.from('new') };
  const change = (device: SimulatedDevice | undefined) =>
    changeKey(device!.coordinator, about, () => content);

  /** Only these devices are there while something is tried. */
  async function among(
    cluster: SimulatedCluster,
    ids: readonly number[],
    work: () => Promise<void>,
  ) {
    for (const device of cluster.devices) device.up = ids.includes(device.id);
    await work();
    for (const device of cluster.devices) device.up = true;
  }

  /** A record on device 0 alone; devices 1 and 2 have promised to take nothing that old. */
  async function undecided(version: number) {
    const cluster = await clusterAt(version);
    expect(await write(cluster.devices[4], 'old')).toBe('acked');
    const { ms = 0 } = cluster.devices[0]!.rows.get('key') ?? {};
    cluster.devices[0]!.put({ key, value: Buffer.from('half'), ms: ms + 1, tie: 0 });
    const promise = { key, value: null, ms: ms + 10_000, tie: 0, isPromise: true };
    for (const id of [1, 2]) expect(cluster.devices[id]!.put(promise).kind).toBe('applied');
    return cluster;
  }

  test('a read that meets it decides it, and every later read agrees', async () => {
    const cluster = await undecided(1);
    const found = await read(cluster.devices[0]);
    expect(['old', 'half']).toContain(found);
    for (const device of cluster.devices) expect(await read(device)).toBe(found);
    for (const device of cluster.devices) expect([...device.promises]).toEqual([]);
  });

  test('a plain write below the promise goes on as a round', async () => {
    const cluster = await undecided(1);
    expect(await write(cluster.devices[1], 'plain')).toBe('acked');
    expect(await read(cluster.devices[2])).toBe('plain');
  });

  test('a joiner keeps out what the device kept out that it replaces', async () => {
    const cluster = await undecided(1);
    for (const version of [2, 3]) {
      for (const device of cluster.devices) device.activate(version);
      await vi.advanceTimersByTimeAsync(5_000);
    }
    const joiner = cluster.devices[3]!;
    expect(joiner.loaded).toBe(true);
    const [from] = cluster.versions[1]!.moves.map((move) => move.from);
    expect(from, 'it had promised').toBe(2);
    expect([...joiner.promises]).toEqual([...cluster.devices[2]!.promises]);
    const lateMs = joiner.promises.get('key')!.ms - 1;
    const late = { key, value: Buffer.from('late'), ms: lateMs, tie: 0 };
    expect(joiner.put(late).kind).toBe('promised');
    const found = await read(cluster.devices[0]);
    for (const device of cluster.devices) expect(await read(device)).toBe(found);
  });

  test('without a quorum nothing is changed, and it says so', async () => {
    const cluster = await clusterAt(1);
    expect(await write(cluster.devices[4], 'old')).toBe('acked');
    await among(cluster, [0, 4], async () => {
      const failure = await soon(change(cluster.devices[4])).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'NOT_ENOUGH_REPLICAS',
        details: { outcome: 'rejected' },
      });
    });
    expect(await read(cluster.devices[0])).toBe('old');
    expect(await soon(change(cluster.devices[4]))).toMatchObject({ isChanged: true });
    expect(await read(cluster.devices[0])).toBe('new');
  });
});
