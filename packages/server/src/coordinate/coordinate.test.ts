// Tests the coordinator, case by case: while two ring versions are in use, after an interrupted
// round, and the outcome that it reports for a failed write.

import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { formatStamp } from '@ringwright/base/stamp';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import {
  SimulatedCluster,
  type SimulatedDevice,
  type SimulationOptions,
} from '../../../../test/support/simulated-cluster.ts';
import { writeByCall } from '../../../../test/support/write-by-call.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
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

/** Returns a cluster at a ring version. The joiner loads as soon as it is INITIALIZING. */
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

/** Stores a value on these devices only, newer than all before. */
async function partly(cluster: SimulatedCluster, devices: readonly number[], value: string) {
  const stamp = { ms: Date.now() + 5_000, tie: 0 };
  for (const id of devices) cluster.devices[id]!.put({ key, value: Buffer.from(value), ...stamp });
}

describe('a slot is in flight', () => {
  test('the two other slots are a quorum while the joiner is down', async () => {
    const cluster = await clusterAt(2);
    cluster.devices[3]!.up = false;
    expect(await write(cluster.devices[4], 'one')).toBe('acked');
    expect(await read(cluster.devices[0])).toBe('one');
  });

  test('the current device of the slot alone does not count', async () => {
    const cluster = await clusterAt(2);
    cluster.devices[3]!.up = false;
    cluster.devices[1]!.up = false;
    expect(await write(cluster.devices[0], 'one')).toBe('NOT_ENOUGH_REPLICAS unknown');
  });

  test('a record on the current device and one other is written back by a read', async () => {
    const cluster = await clusterAt(3);
    await write(cluster.devices[0], 'one');
    await partly(cluster, [1, 2], 'two');
    cluster.devices[0]!.up = false;
    expect(await read(cluster.devices[1])).toBe('two');
    cluster.devices[0]!.up = true;
    for (const device of cluster.devices) device.activate(4);
    await vi.advanceTimersByTimeAsync(5_000);
    cluster.devices[1]!.up = false;
    expect(await read(cluster.devices[0]), 'the joiner has it, without device 2').toBe('two');
  });
});

describe('the old and the new ring are both in use', () => {
  /** Devices 1 and 2, a quorum of version 3, do not learn version 4. */
  async function apart(takeover: boolean) {
    const cluster = await clusterAt(3, { ...sound, takeover });
    cluster.cutOff = new Set([1, 2]);
    for (const id of [0, 3, 4]) cluster.devices[id]!.activate(4);
    await vi.advanceTimersByTimeAsync(5_000);
    return { wrote: await write(cluster.devices[4], 'new'), read: await read(cluster.devices[1]) };
  }

  test('the joiner does not count while the old ring can have a quorum without it', async () => {
    expect(await apart(true)).toEqual({ wrote: 'NOT_ENOUGH_REPLICAS unknown', read: 'nothing' });
  });

  test('an acknowledged write is missed if the joiner counts before its takeover', async () => {
    expect(await apart(false)).toEqual({ wrote: 'acked', read: 'nothing' });
  });

  test('the joiner counts when the old holder is down and the others have the ring', async () => {
    const cluster = await clusterAt(3);
    cluster.devices[2]!.up = false;
    for (const id of [0, 1, 3, 4]) cluster.devices[id]!.activate(4);
    await vi.advanceTimersByTimeAsync(5_000);
    cluster.devices[1]!.up = false;
    expect(await write(cluster.devices[4], 'new')).toBe('acked');
  });

  test('a write at level all waits until the joiner counts, and stores one record', async () => {
    const cluster = await clusterAt(3);
    cluster.cutOff = new Set([1, 2]);
    for (const id of [0, 3, 4]) cluster.devices[id]!.activate(4);
    const asked = { ...about, consistency: 'all' } as const;
    const { coordinator } = cluster.devices[4]!;
    const wrote = coordinateWrite(coordinator, { ...asked, value: Buffer.from('one') });
    await vi.advanceTimersByTimeAsync(600);
    expect(cluster.devices[3]!.state, 'devices 1 and 2 may still form a quorum').toBe('filling');
    cluster.cutOff = new Set();
    const stamp = await soon(wrote);
    for (const id of [0, 1, 3]) expect(cluster.devices[id]!.rows.get('key')).toMatchObject(stamp);
    expect(await soon(coordinateRead(coordinator, asked))).toMatchObject(stamp);
  });

  test('a write at level all fails if the joiner does not count in time', async () => {
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

  test('a read ends in time if the clock is set back after a ring was activated', async () => {
    const cluster = await clusterAt(3);
    cluster.cutOff = new Set([1, 2]);
    for (const id of [0, 3, 4]) cluster.devices[id]!.activate(4);
    vi.setSystemTime(Date.now() - 3_600_000);
    const asked = { ...about, consistency: 'all' } as const;
    const reading = Promise.resolve(coordinateRead(cluster.devices[4]!.coordinator, asked));
    await expect(soon(reading)).rejects.toMatchObject({ code: 'NOT_ENOUGH_REPLICAS' });
  });

  test('an outdated coordinator fetches the ring and stores the same record', async () => {
    const cluster = await clusterAt(1);
    for (const id of [0, 1, 2, 3]) cluster.devices[id]!.activate(2);
    expect(cluster.devices[4]!.active.ring.version).toBe(1);
    expect(await write(cluster.devices[4], 'one')).toBe('acked');
    expect(cluster.devices[4]!.active.ring.version).toBe(2);
    const stamps = [0, 1, 2, 3].map((id) => cluster.devices[id]!.rows.get('key'));
    expect(new Set(stamps.map((row) => `${row?.ms} ${row?.tie}`)).size).toBe(1);
  });
});

describe('a failed write reports its outcome', () => {
  test('a write below a newer record is superseded, and the clock learns its stamp', async () => {
    const cluster = await clusterAt(1);
    await partly(cluster, [0, 1, 2], 'later');
    expect(await write(cluster.devices[4], 'mine')).toBe('SUPERSEDED');
    expect(await write(cluster.devices[4], 'again')).toBe('acked');
    expect(await read(cluster.devices[4])).toBe('again');
  });

  test('a record from an hour ahead blocks its key and does not move the clock', async () => {
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

  test('a quorum of slots is enough to read a record from an hour ahead', async () => {
    const cluster = await clusterAt(1);
    const ahead = { key, value: Buffer.from('ahead'), ms: Date.now() + 3_600_000, tie: 0 };
    for (const id of [0, 1]) cluster.devices[id]!.put(ahead);
    for (const device of cluster.devices) expect(await read(device)).toBe('ahead');
    expect(cluster.devices[2]!.rows.has('key'), 'no device takes it before its time').toBe(false);
  });

  test('a write that every device refuses before storing it is rejected', async () => {
    const cluster = await clusterAt(1, { ...sound, wrongClock: 4 });
    expect(await write(cluster.devices[4], 'wrong clock')).toBe('NOT_ENOUGH_REPLICAS rejected');
    expect(await read(cluster.devices[0])).toBe('nothing');
  });

  test.each([
    ['only one device is up', [1, 2]],
    ['no device is up', [0, 1, 2]],
  ])('the outcome is unknown when %s', async (_name, down) => {
    const cluster = await clusterAt(1);
    for (const id of down) cluster.devices[id]!.up = false;
    expect(await write(cluster.devices[4], 'x')).toBe('NOT_ENOUGH_REPLICAS unknown');
  });

  test.each<[ErrorCode, string | undefined, string]>([
    ['WIRE_VERSION_UNKNOWN', undefined, 'rejected'],
    ['STORE_CLOSED', undefined, 'rejected'],
    ['NOT_RESPONSIBLE', undefined, 'rejected'],
    ['DISK_FULL', undefined, 'rejected'],
    // The coordinator's server has left the ring.
    ['CALLER_UNPROVEN', undefined, 'rejected'],
    ['PEER_BUSY', 'rejected', 'rejected'],
    // The record may be stored: the answer had no room, or the record does not count yet.
    ['PEER_BUSY', 'unknown', 'unknown'],
    ['PEER_BUSY', undefined, 'unknown'],
    ['PARTITION_FILLING', undefined, 'unknown'],
    ['PARTITION_DAMAGED', undefined, 'unknown'],
    ['PEER_FAILED', undefined, 'unknown'],
  ])('if all devices answer %s with outcome %s, the write is %s', async (code, outcome, wanted) => {
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

  /** A write at level all, of which the first `lost` messages to device 2 are lost. */
  async function writeDecided(cluster: SimulatedCluster, lost: number) {
    // A round that never ended keeps the write out of device 0, so that another round decides it.
    cluster.devices[0]!.put({
      key,
      value: null,
      ms: Date.now() + 5_000,
      tie: 0,
      isPreparedBallot: true,
    });
    const { coordinator } = cluster.devices[4]!;
    let left = lost;
    const devices: DeviceCaller = {
      ...coordinator.devices,
      write: (to, request, onResult) => {
        if (to.device !== 2 || left === 0) coordinator.devices.write(to, request, onResult);
        else {
          left -= 1;
          setTimeout(() => onResult(2, null, new CodedError('PEER_TIMEOUT', 'lost')), 100);
        }
      },
    };
    const request = {
      ...about,
      consistency: 'all',
      value: Buffer.from('one'),
      expiresMs: 1,
    } as const;
    return soon(coordinateWrite({ ...coordinator, devices }, request));
  }

  test('a write at level all that a round has decided fails with its stamp', async () => {
    const cluster = await clusterAt(1);
    const error = await writeDecided(cluster, Number.POSITIVE_INFINITY).catch(
      (one: unknown) => one,
    );
    const { ms, tie, origin } = cluster.devices[0]!.rows.get('key')!;
    const details = { outcome: 'unknown', stamp: formatStamp(origin ?? { ms, tie }) };
    expect(error).toMatchObject({ code: 'NOT_ENOUGH_REPLICAS', details });
  });

  test('a write at level all that a round has decided is the same on all devices', async () => {
    const cluster = await clusterAt(1);
    await writeDecided(cluster, 2);
    const rows = [0, 1, 2].map((id) => cluster.devices[id]!.rows.get('key'));
    expect(
      rows.map((row) => row?.value?.toString()),
      'also if it has expired',
    ).toEqual(Array(3).fill('one'));
  });

  test('the outcome is unknown when only the joiner stored the record', async () => {
    const cluster = await clusterAt(2);
    for (const id of [0, 1, 2]) cluster.devices[id]!.up = false;
    expect(await write(cluster.devices[4], 'x')).toBe('NOT_ENOUGH_REPLICAS unknown');
    expect(cluster.devices[3]!.rows.size).toBe(1);
  });

  test('the outcome stays unknown if a device stored the record before all refuse it', async () => {
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

  test('a failed write that a read has returned is returned by later reads', async () => {
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

describe('a round was interrupted halfway', () => {
  const content = { value: Buffer.from('new') };
  const change = (device: SimulatedDevice | undefined) =>
    changeKey(device!.coordinator, about, () => content);

  /** Runs `work` while only these devices are up. */
  async function among(
    cluster: SimulatedCluster,
    ids: readonly number[],
    work: () => Promise<void>,
  ) {
    for (const device of cluster.devices) device.up = ids.includes(device.id);
    await work();
    for (const device of cluster.devices) device.up = true;
  }

  /** Only device 0 has the newest record; devices 1 and 2 have promised not to accept it. */
  async function undecided(version: number) {
    const cluster = await clusterAt(version);
    expect(await write(cluster.devices[4], 'old')).toBe('acked');
    const { ms = 0 } = cluster.devices[0]!.rows.get('key') ?? {};
    cluster.devices[0]!.put({ key, value: Buffer.from('half'), ms: ms + 1, tie: 0 });
    const promise = { key, value: null, ms: ms + 10_000, tie: 0, isPreparedBallot: true };
    for (const id of [1, 2]) expect(cluster.devices[id]!.put(promise).kind).toBe('applied');
    return cluster;
  }

  test('a read decides the value, and every later read agrees', async () => {
    const cluster = await undecided(1);
    const found = await read(cluster.devices[0]);
    expect(['old', 'half']).toContain(found);
    for (const device of cluster.devices) expect(await read(device)).toBe(found);
    for (const device of cluster.devices) expect([...device.promises]).toEqual([]);
  });

  test('a plain write below the promise continues as a round', async () => {
    const cluster = await undecided(1);
    expect(await write(cluster.devices[1], 'plain')).toBe('acked');
    expect(await read(cluster.devices[2])).toBe('plain');
  });

  test('a joiner takes over the promises of the device that it replaces', async () => {
    const cluster = await undecided(1);
    for (const version of [2, 3]) {
      for (const device of cluster.devices) device.activate(version);
      await vi.advanceTimersByTimeAsync(5_000);
    }
    const joiner = cluster.devices[3]!;
    expect(joiner.loaded).toBe(true);
    const [from] = cluster.versions[1]!.moves.map((move) => move.from);
    expect(from, 'the replaced device has promised').toBe(2);
    expect([...joiner.promises]).toEqual([...cluster.devices[2]!.promises]);
    const lateMs = joiner.promises.get('key')!.ms - 1;
    const late = { key, value: Buffer.from('late'), ms: lateMs, tie: 0 };
    expect(joiner.put(late).kind).toBe('promised');
    const found = await read(cluster.devices[0]);
    for (const device of cluster.devices) expect(await read(device)).toBe(found);
  });

  test('a change without a quorum is rejected and changes nothing', async () => {
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
