// Old tombstones are purged only once every holder has them. Then nothing revives a deleted value:
// no device that was away, no file that was restored, no message that was delayed.
import { CodedError } from '@ringwright/base/coded-error';
import { seededRandom } from '@ringwright/base/random';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import { floorRaise } from '@ringwright/wire/floors';
import { recordRead, recordWrite } from '@ringwright/wire/records';
import { digests } from '@ringwright/wire/replication';
import { expect, test, vi } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { loadPartition } from '../moves/load-partition.ts';
import { raiseFloor, raiseFloors } from './raise-floor.ts';
import { Replicator } from './replicate.ts';

const ring = servedRing({ devices: 3, power: 0 });
const keyspace = 'cities';
const about = { keyspace, partition: 0, ringVersion: 1 };

interface Op extends Stamp {
  readonly key: string;
  readonly value: string | null;
  acks: number;
}

class World {
  readonly cluster: StoreCluster;
  readonly ops: Op[] = [];
  /** Writes that have not reached a device yet. */
  readonly delayed: { op: Op; device: number }[] = [];
  readonly replicators: Replicator[];
  #ms: number;

  constructor(cluster: StoreCluster) {
    this.cluster = cluster;
    this.#ms = cluster.nowMs() - 40 * 3_600_000;
    this.replicators = cluster.devices.map(
      ({ store, devices, decide, id }) =>
        new Replicator({
          store,
          devices,
          decide,
          nowMs: cluster.nowMs,
          onPushed: () => undefined,
          onMissedDeletions: (_, partition) =>
            this.device(id).store.setState(keyspace, partition, 'filling'),
          onError: () => undefined,
        }),
    );
  }

  static async open(): Promise<World> {
    const cluster = await StoreCluster.open([ring]);
    await cluster.create(0, [0, 1, 2]);
    return new World(cluster);
  }

  get ms(): number {
    return this.#ms;
  }

  device(id: number): StoreDevice {
    return this.cluster.devices[id]!;
  }

  /** Makes a write that reaches the devices in `now` at once, and the others later or never. */
  async write(key: string, value: string | null, now: readonly number[]): Promise<Op> {
    this.#ms += 1_000;
    const op: Op = { key, value, ms: this.#ms, tie: 7, acks: 0 };
    this.ops.push(op);
    for (const { id } of this.cluster.devices) {
      if (now.includes(id)) await this.deliver(op, id);
      else this.delayed.push({ op, device: id });
    }
    return op;
  }

  async deliver(op: Op, device: number): Promise<string> {
    const { value, ms, tie } = op;
    const bytes = { key: Buffer.from(op.key), value: value === null ? null : Buffer.from(value) };
    const to = { active: this.device(0).active, device };
    const call = this.device(0).devices.call(to, recordWrite, { ...about, ...bytes, ms, tie });
    const outcome = await Promise.resolve(call).then(
      ({ kind }) => kind,
      (error: { code: string }) => error.code,
    );
    if (outcome === 'stored') op.acks += 1;
    return outcome;
  }

  async replicate(): Promise<void> {
    for (const [id, replicator] of this.replicators.entries()) {
      replicator.forget();
      if (this.device(id).up) await replicator.round(this.device(id).active);
    }
  }

  async refill(): Promise<void> {
    for (const { store, devices, decide, throttle, partial, active, up } of this.cluster.devices) {
      if (!up || store.info(keyspace, 0)?.state !== 'filling') continue;
      const task = { active, partition: 0, move: null, onProgress: () => undefined };
      await loadPartition({ store, devices, decide, throttle, partial }, task).then(
        () => store.setState(keyspace, 0, 'ready'),
        () => undefined,
      );
    }
  }

  raise(floorMs: number): Promise<boolean | string> {
    const { active, devices } = this.device(0);
    return raiseFloor({ devices }, { active, partition: 0, floorMs }).catch(
      (error: { code: string }) => error.code,
    );
  }

  /** Restores the file of `id` as of `ms`, like an operator: the file knows of no promise. */
  async restore(id: number, ms: number): Promise<void> {
    const { store } = this.device(id);
    const rows = store.rowsSince(keyspace, 0, 0, { rowsMax: 1e6, bytesMax: 1e9 }).rows;
    const newest = new Map<string, Op>();
    for (const op of this.ops) if (op.ms <= ms) newest.set(op.key, op);
    await store.drop(keyspace, 0);
    await store.create(keyspace, 0, 'ready');
    const old = [...newest.values()].map(({ key, value, ms: at, tie }) => {
      const bytes = { key: Buffer.from(key), value: value === null ? null : Buffer.from(value) };
      return { keyspace, partition: 0, ...bytes, ms: at, tie };
    });
    const kept = rows.filter((row) => row.ms <= ms);
    await store.write([...old, ...kept.map((row) => ({ keyspace, partition: 0, ...row }))]);
  }

  /** Checks what each pair of complete devices answers together. */
  async check(seed: string): Promise<void> {
    const ids = this.cluster.devices.filter(({ up }) => up).map(({ id }) => id);
    for (const key of new Set(this.ops.map((op) => op.key))) {
      const ops = this.ops.filter((op) => op.key === key);
      const acked = ops.findLast(({ acks }) => acks >= 2);
      if (acked === undefined) continue;
      const answers = await Promise.all(ids.map((id) => this.#read(id, key)));
      for (const [index, one] of answers.entries()) {
        for (const other of answers.slice(index + 1)) {
          if (one === 'away' || other === 'away') continue;
          const found = newestOf(one, other);
          const allowed = ops.filter((op) => op.ms >= acked.ms).map(({ value }) => value);
          expect(allowed, `${seed}: ${key} acked at ${acked.ms}`).toContain(found);
        }
      }
    }
  }

  async #read(device: number, key: string) {
    const request = { ...about, key: Buffer.from(key) };
    const to = { active: this.device(0).active, device };
    try {
      return (await this.device(0).devices.call(to, recordRead, request)).record;
    } catch {
      return 'away' as const;
    }
  }

  get tombstones(): number[] {
    return this.cluster.devices.map(({ store }) => store.info(keyspace, 0)?.tombstones ?? -1);
  }
}

type Read = { readonly value: Uint8Array | null; readonly ms: number; readonly tie: number } | null;

function newestOf(one: Read, other: Read): string | null {
  const isOther = one === null || (other !== null && compareStamps(other, one) > 0);
  const newest = isOther ? other : one;
  return newest?.value ? Buffer.from(newest.value).toString() : null;
}

test('tombstones stay while a holder is away or differs, and are then purged by all', async () => {
  const world = await World.open();
  await using _ = world.cluster;
  await world.write('a', 'v', [0, 1, 2]);
  await world.write('a', null, [0, 1]);
  world.device(2).up = false;
  expect(await world.raise(world.ms)).toBe('PEER_UNREACHABLE');
  world.device(2).up = true;
  expect(await world.raise(world.ms)).toBe(false);
  expect(world.tombstones).toEqual([1, 1, 0]);
  await world.replicate();
  expect(await world.raise(world.ms)).toBe(true);
  expect(world.tombstones).toEqual([0, 0, 0]);
  // The message to device 2 arrives years later, and so does the value before it.
  for (const op of world.ops) expect(await world.deliver(op, 2)).toBe('STAMP_TOO_OLD');
  await world.check('late');
});

test('a holder that dies before it raises its floor raises it once it is back', async () => {
  const world = await World.open();
  const { cluster } = world;
  await world.write('kept', 'k', [0, 1, 2]);
  await world.write('gone', 'g', [0, 1, 2]);
  await world.write('gone', null, [0, 1, 2]);
  const victim = world.device(2);
  victim.onCall = (method) => {
    if (method === floorRaise.method) throw new CodedError('PEER_UNREACHABLE', 'it died');
  };
  const { active, devices } = world.device(0);
  const task = { active, partition: 0, floorMs: world.ms };
  await expect(raiseFloor({ devices }, task)).rejects.toThrow('it died');
  expect(cluster.devices.map((device) => device.info(0)?.tombstones)).toEqual([0, 0, 1]);
  for (const [id, replicator] of world.replicators.entries()) {
    await replicator.round(world.device(id).active);
  }
  expect(new Set(cluster.devices.map((device) => device.info(0)?.digest)).size).toBe(1);
  expect(cluster.devices.map((device) => device.info(0)?.floorMs)).toEqual(Array(3).fill(world.ms));
  expect(victim.value(0, 'kept')).toBe('k');
  await cluster[Symbol.asyncDispose]();
});

test('a file restored from before the floor refills and revives no deleted value', async () => {
  const world = await World.open();
  await using _ = world.cluster;
  await world.write('a', 'v', [0, 1, 2]);
  const before = world.ms;
  await world.write('a', null, [0, 1, 2]);
  await world.write('b', 'w', [0, 1, 2]);
  expect(await world.raise(world.ms)).toBe(true);
  await world.restore(2, before);
  await world.check('restored');
  await world.replicate();
  expect(world.device(2).info(0)?.state).toBe('filling');
  await world.refill();
  const files = world.cluster.devices.map((device) => device.info(0));
  expect(new Set(files.map((info) => info?.digest)).size).toBe(1);
  expect(world.device(2).value(0, 'a')).toBeNull();
  expect(world.device(2).value(0, 'b')).toBe('w');
});

test('a copy is repeated if its source purges tombstones meanwhile', async () => {
  const world = await World.open();
  await using _ = world.cluster;
  await world.write('a', 'v', [0, 1, 2]);
  const { store, active, devices, decide, throttle, partial } = world.device(2);
  await store.setState(keyspace, 0, 'filling');
  let copies = 0;
  world.device(0).onCall = async (method) => {
    if (method !== 'copy-close') return;
    copies += 1;
    if (copies > 1) return;
    // The holders agreed while the earlier file was here, so now the other two raise the floor.
    await world.write('a', null, [0, 1]);
    for (const id of [0, 1]) {
      await world.device(id).store.raiseBarrier(keyspace, 0, world.ms);
      await world.device(id).store.raiseFloor(keyspace, 0, world.ms);
    }
  };
  const task = { active, partition: 0, move: null, onProgress: () => undefined };
  const load = () =>
    loadPartition({ store, devices, decide, throttle, partial }, task).catch(
      (error: unknown) => error,
    );
  expect(await load()).toMatchObject({ code: 'NOT_ENOUGH_REPLICAS' });
  expect(await load()).toMatchObject({ copy: { device: 0 }, merged: [1] });
  expect(world.device(2).value(0, 'a')).toBeNull();
});

test('random histories lose no acknowledged write and revive no deleted value', async () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const random = seededRandom(seed);
    const world = await World.open();
    await using _ = world.cluster;
    let raised = 0;
    for (let step = 0; step < 60; step += 1) {
      const dice = random.below(20);
      const key = `key ${random.below(4)}`;
      const up = [0, 1, 2].filter((id) => world.device(id).up);
      const reached = up.filter(() => random.below(4) > 0);
      if (dice < 5) await world.write(key, `value ${step}`, reached);
      else if (dice < 10) await world.write(key, null, reached);
      else if (dice < 12 && world.delayed.length > 0) {
        const [one] = world.delayed.splice(random.below(world.delayed.length), 1);
        if (one !== undefined) await world.deliver(one.op, one.device);
      } else if (dice < 14) await world.replicate();
      else if (dice < 15) await world.refill();
      else if (dice < 18)
        raised += (await world.raise(world.ms - 1_000 * random.below(8))) === true ? 1 : 0;
      else if (dice < 19) world.device(1).up = !world.device(1).up;
      else world.device(2).up = !world.device(2).up;
      await world.check(`seed ${seed}, step ${step}`);
    }
    for (const device of world.cluster.devices) device.up = true;
    for (let round = 0; round < 3; round += 1) {
      await world.replicate();
      await world.refill();
    }
    raised += (await world.raise(world.ms)) === true ? 1 : 0;
    await world.check(`seed ${seed}, at the end`);
    expect(raised, `seed ${seed}`).toBeGreaterThan(0);
    expect(world.tombstones, `seed ${seed}`).toEqual([0, 0, 0]);
  }
}, 60_000);

test('raising floors skips a file that turns out to be damaged', async () => {
  await using cluster = await StoreCluster.open([ring]);
  await cluster.create(0, [0, 1, 2]);
  const [{ store, devices, active }, other] = [cluster.devices[0]!, cluster.devices[1]!];
  await cluster.devices[0]!.put(0, { a: '1' });
  const counted = vi.spyOn(store, 'expired').mockImplementation(() => {
    throw new CodedError('PARTITION_DAMAGED', 'the index of records that expire');
  });
  const ports = { store, devices, nowMs: cluster.nowMs, requireDropsAllowed: () => undefined };
  expect(await raiseFloors(ports, active)).toBe(0);
  const asked = { keyspace, ringVersion: 1, partitions: [0], recent: false, nowMs: 1 };
  const { holdings } = await other.devices.call({ active, device: 0 }, digests, asked);
  expect(holdings).toMatchObject([{ incarnation: 'damaged' }]);
  expect(counted).toHaveBeenCalledTimes(2);
});

test('raising floors asks no empty file, and a turn of the event loop asks one file', async () => {
  const wide = servedRing({ devices: 1, replicas: 1, power: 5 });
  await using cluster = await StoreCluster.open([wide]);
  const device = cluster.devices[0]!;
  const { store, devices, active } = device;
  for (let partition = 0; partition < wide.partitions; partition += 1) {
    await cluster.create(partition, [0]);
  }
  const filled = [3, 4, 5, 6, 20, 21, 22, 23, 31];
  for (const partition of filled) await device.put(partition, { a: '1' });
  let turn = 0;
  const turns: number[] = [];
  const asked: number[] = [];
  vi.spyOn(store, 'expired').mockImplementation((_, partition) => {
    asked.push(partition);
    turns.push(turn);
    return Promise.resolve(0);
  });
  const ports = { store, devices, nowMs: cluster.nowMs, requireDropsAllowed: () => undefined };
  let isOver = false;
  const raising = raiseFloors(ports, active).finally(() => (isOver = true));
  for (; !isOver; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(await raising).toBe(0);
  expect(asked).toEqual(filled);
  expect(new Set(turns).size).toBe(filled.length);
});

test('raising floors ends before the next partition when the server stops', async () => {
  const wide = servedRing({ devices: 1, replicas: 1, power: 3 });
  await using cluster = await StoreCluster.open([wide]);
  const device = cluster.devices[0]!;
  const { store, devices, active } = device;
  for (const partition of [1, 2, 5]) {
    await cluster.create(partition, [0]);
    await device.put(partition, { a: '1' });
  }
  const stop = new AbortController();
  const counted = vi.spyOn(store, 'expired').mockImplementation(() => {
    stop.abort();
    return Promise.resolve(0);
  });
  const ports = { store, devices, nowMs: cluster.nowMs, requireDropsAllowed: () => undefined };
  expect(await raiseFloors(ports, active, stop.signal)).toBe(0);
  expect(counted).toHaveBeenCalledOnce();
});
