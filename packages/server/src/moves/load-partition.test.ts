// Loads of a partition between real stores: from the replaced device, from enough others, or none.
import { CodedError } from '@ringwright/base/coded-error';
import { copiesOutMax, copiesToServerMax, copiesToZoneMax } from '@ringwright/base/limits-copies';
import type { PartitionState } from '@ringwright/partition/file/partition-info';
import { copyOpen, copyRead } from '@ringwright/wire/copies';
import { digests, promises, rowsSince } from '@ringwright/wire/replication';
import { describe, expect, test } from 'vitest';
import { codeIn } from '../../../../test/support/refusal.ts';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { firstMs, StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { loadPartition } from './load-partition.ts';

/** Partition 0 is on devices 0, 1, 2; device 3 joins for device 2. */
const first = servedRing({ power: 0 });
const versions = [first, ...moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }])];

async function loading(
  device: StoreDevice,
  how: 'join' | 'refill' | 'forced' = 'join',
): Promise<string> {
  const { active, store, devices, decide, throttle, partial } = device;
  const move = how === 'join' ? (active.ring.moves[0] ?? null) : null;
  const isForced = how === 'forced';
  const task = { active, partition: 0, move, isForced, onProgress: () => undefined };
  const loading = loadPartition({ store, devices, decide, throttle, partial }, task);
  return loading.then(() => 'loaded', codeIn);
}

/** Devices 0 and 1 lack one record each; the leaving device has both and one of its own. */
async function initializing(): Promise<StoreCluster> {
  const cluster = await StoreCluster.open(versions);
  await cluster.create(0, [0, 1, 2]);
  await cluster.create(0, [3], 'filling');
  const [a, b, c] = cluster.devices;
  await a!.put(0, { common: '1', a: '1' });
  await b!.put(0, { common: '1', b: '1' });
  await c!.put(0, { common: '1', a: '1', b: '1', c: '1' });
  cluster.activate(3);
  return cluster;
}

describe('a joiner', () => {
  test('takes the file of the device it replaces, merged with its own records', async () => {
    await using cluster = await initializing();
    const [, , source, joiner] = cluster.devices;
    await joiner!.put(0, { common: 'newer', own: '1' }, 9);
    expect(await loading(joiner!)).toBe('loaded');
    expect(['common', 'a', 'b', 'c', 'own'].map((key) => joiner!.value(0, key))).toEqual([
      'newer',
      '1',
      '1',
      '1',
      '1',
    ]);
    expect(source!.info(0)?.rows, 'the source keeps its records').toBe(4);
  });

  test('catches up with writes that arrive during the copy', async () => {
    await using cluster = await initializing();
    const [, , source, joiner] = cluster.devices;
    source!.onCall = async (method) => {
      if (method === 'copy-close') await source!.put(0, { late: '1', common: 'late' }, 9);
    };
    expect(await loading(joiner!)).toBe('loaded');
    expect([joiner!.value(0, 'late'), joiner!.value(0, 'common')]).toEqual(['1', 'late']);
  });

  test('loads everything again if the source replaces its file meanwhile', async () => {
    await using cluster = await initializing();
    const [, , source, joiner] = cluster.devices;
    source!.onCall = async (method) => {
      if (method !== 'copy-close') return;
      source!.onCall = () => undefined;
      await source!.store.drop('cities', 0);
      await cluster.create(0, [2]);
      await source!.put(0, { fresh: '1' });
    };
    expect(await loading(joiner!)).toBe('loaded');
    expect(joiner!.value(0, 'fresh'), 'sequence 1 of the new file, below the copy').toBe('1');
  });

  test('merges both other holders if the source is away, so that no quorum is missed', async () => {
    await using cluster = await initializing();
    const [, , source, joiner] = cluster.devices;
    source!.up = false;
    expect(await loading(joiner!)).toBe('loaded');
    expect(['common', 'a', 'b', 'c'].map((key) => joiner!.value(0, key))).toEqual([
      '1',
      '1',
      '1',
      null,
    ]);
  });

  test.each(['RING_VERSION_UNKNOWN', 'RING_UNKNOWN', 'WIRE_VERSION_UNKNOWN'] as const)(
    'merges both other holders if the source lacks the ring or wire version (%s)',
    async (code) => {
      await using cluster = await initializing();
      const [, , source, joiner] = cluster.devices;
      source!.onCall = () => {
        throw new CodedError(code, 'it was away');
      };
      expect(await loading(joiner!)).toBe('loaded');
      expect(joiner!.value(0, 'b')).toBe('1');
    },
  );

  test('fails and copies nothing if the source and one more holder are away', async () => {
    await using cluster = await initializing();
    const [whole, other, source, joiner] = cluster.devices;
    source!.up = false;
    other!.up = false;
    const methods = new Set<string>();
    whole!.onCall = (method) => void methods.add(method);
    expect(await loading(joiner!)).toBe('NOT_ENOUGH_REPLICAS');
    expect([...methods]).toEqual([digests.method]);
  });

  test('does not count a filling holder as complete', async () => {
    await using cluster = await initializing();
    const [, other, source, joiner] = cluster.devices;
    source!.up = false;
    await other!.store.setState('cities', 0, 'filling');
    expect(await loading(joiner!)).toBe('NOT_ENOUGH_REPLICAS');
  });

  test('of a ring with one replica does not load without its source', async () => {
    const single = servedRing({ power: 0, replicas: 1, devices: 2 });
    const moved = moveVersions(single, [{ partition: 0, replica: 0, from: 0, to: 1 }]);
    await using cluster = await StoreCluster.open([single, ...moved]);
    await cluster.create(0, [0]);
    await cluster.create(0, [1], 'filling');
    cluster.activate(3);
    cluster.devices[0]!.up = false;
    expect(await loading(cluster.devices[1]!)).toBe('NOT_ENOUGH_REPLICAS');
    cluster.devices[0]!.up = true;
    expect(await loading(cluster.devices[1]!)).toBe('loaded');
  });

  test('fails if its own file is dropped during the load', async () => {
    await using cluster = await initializing();
    const [, , source, joiner] = cluster.devices;
    source!.onCall = async (method) => {
      if (method === rowsSince.method) await joiner!.store.drop('cities', 0);
    };
    await source!.put(0, { late: '1' }, 9);
    source!.up = false;
    for (const id of [0, 1]) cluster.devices[id]!.onCall = source!.onCall;
    expect(await loading(joiner!)).toBe('PARTITION_ABSENT');
  });
});

describe('a holder that lost its records', () => {
  test('loads the records of both other holders', async () => {
    await using cluster = await initializing();
    cluster.activate(1);
    const lost = cluster.devices[2]!;
    await lost.store.drop('cities', 0);
    await cluster.create(0, [2], 'filling');
    expect(await loading(lost, 'refill')).toBe('loaded');
    expect([lost.value(0, 'a'), lost.value(0, 'b')]).toEqual(['1', '1']);
  });

  test('loads from another one that is filling too, once every holder answers', async () => {
    await using cluster = await initializing();
    cluster.activate(1);
    const [a, b, c] = cluster.devices;
    await a!.store.setState('cities', 0, 'filling');
    await b!.store.setState('cities', 0, 'filling');
    c!.up = false;
    expect(await loading(a!, 'refill')).toBe('NOT_ENOUGH_REPLICAS');
    c!.up = true;
    expect([await loading(a!, 'refill'), await loading(b!, 'refill')]).toEqual([
      'loaded',
      'loaded',
    ]);
    const digest = (device: StoreDevice | undefined) => device!.info(0)?.digest;
    expect(new Set([a, b, c].map(digest)).size).toBe(1);
  });

  /** Holders with files in these states. Each file that is not lost contains `common`. */
  async function holders(states: readonly PartitionState[]): Promise<StoreCluster> {
    const cluster = await StoreCluster.open([first]);
    for (const [id, state] of states.entries()) {
      await cluster.create(0, [id], state);
      if (state !== 'lost') await cluster.devices[id]!.put(0, { common: '1' });
    }
    return cluster;
  }

  test('waits while another copy is lost too: the two may have been a quorum', async () => {
    await using cluster = await holders(['lost', 'lost', 'ready']);
    const [a, b, c] = cluster.devices;
    const asked: string[] = [];
    c!.onCall = (method) => void asked.push(method);
    const { active, store, devices, decide, throttle, partial } = a!;
    const task = { active, partition: 0, move: null, onProgress: () => undefined };
    const waits = loadPartition({ store, devices, decide, throttle, partial }, task);
    await expect(waits).rejects.toMatchObject({
      code: 'NOT_ENOUGH_REPLICAS',
      message: expect.stringContaining('possible loss, the copy of d1 is lost too'),
    });
    expect(new Set(asked), 'it only compares digests').toEqual(new Set([digests.method]));
    expect(await loading(b!, 'refill')).toBe('NOT_ENOUGH_REPLICAS');
    expect(await loading(a!, 'forced')).toBe('loaded');
    await a!.store.setState('cities', 0, 'ready');
    expect(await loading(b!, 'refill'), 'one forced load is enough for both').toBe('loaded');
    expect([a!.value(0, 'common'), b!.value(0, 'common')]).toEqual(['1', '1']);
  });

  test('waits for a holder that is down, and then needs no force', async () => {
    await using cluster = await holders(['lost', 'ready', 'ready']);
    const [a, b] = cluster.devices;
    b!.up = false;
    expect(await loading(a!, 'refill')).toBe('NOT_ENOUGH_REPLICAS');
    b!.up = true;
    expect(await loading(a!, 'refill')).toBe('loaded');
  });

  test('loads beside a filling holder, which still has what it acknowledged', async () => {
    await using cluster = await holders(['lost', 'filling', 'ready']);
    const [a, b] = cluster.devices;
    await b!.put(0, { own: '1' });
    expect([await loading(a!, 'refill'), await loading(b!, 'refill')]).toEqual([
      'loaded',
      'loaded',
    ]);
    expect(a!.value(0, 'own')).toBe('1');
  });

  test('fails if one source loses its file while another one is copied', async () => {
    await using cluster = await holders(['lost', 'filling', 'ready']);
    const [a, b, c] = cluster.devices;
    c!.onCall = async (method) => {
      if (method === copyOpen.method) await b!.store.setState('cities', 0, 'lost');
    };
    expect(await loading(a!, 'refill')).toBe('NOT_ENOUGH_REPLICAS');
  });

  test('of a ring with one replica waits until it is forced', async () => {
    const single = servedRing({ power: 0, replicas: 1, devices: 1 });
    await using cluster = await StoreCluster.open([single]);
    await cluster.create(0, [0], 'lost');
    expect(await loading(cluster.devices[0]!, 'refill')).toBe('NOT_ENOUGH_REPLICAS');
    expect(await loading(cluster.devices[0]!, 'forced')).toBe('loaded');
  });

  test('does not load from filling holders alone until it is forced', async () => {
    await using cluster = await StoreCluster.open([first]);
    await cluster.create(0, [0, 1, 2], 'filling');
    const [a, b] = cluster.devices;
    await b!.put(0, { late: '1' });
    expect(await loading(a!, 'refill')).toBe('NOT_ENOUGH_REPLICAS');
    expect(await loading(a!, 'forced')).toBe('loaded');
    expect(a!.value(0, 'late'), 'the record of another holder').toBe('1');
  });
});

describe('open promises', () => {
  const promise = (key: string, ms: number) => {
    const about = { keyspace: 'cities', partition: 0, value: null, isPreparedBallot: true };
    return { ...about, key: Buffer.from(key), ms: firstMs + ms, tie: 3 };
  };
  const kept = ({ store }: StoreDevice) =>
    store
      .preparedBallots('cities', 0)
      .map(({ key, ms, tie }) => [String(key), ms - firstMs, tie].join(' '))
      .sort((a, b) => a.localeCompare(b));

  test('come with a refill, although one other holder is no quorum to decide them', async () => {
    const pair = servedRing({ power: 0, replicas: 2, devices: 2 });
    await using cluster = await StoreCluster.open([pair]);
    await cluster.create(0, [0], 'lost');
    await cluster.create(0, [1]);
    const [lost, other] = cluster.devices;
    await other!.put(0, { a: '1' });
    await other!.store.write([promise('a', 50), promise('copied', 40)]);
    other!.onCall = async (method) => {
      if (method === rowsSince.method) await other!.store.write([promise('late', 60)]);
    };
    expect(await loading(lost!, 'refill')).toBe('loaded');
    expect(kept(lost!)).toEqual(['a 50 3', 'copied 40 3', 'late 60 3']);
    const older = { ...promise('a', 45), isPreparedBallot: false };
    const [outcome] = await lost!.store.write([older]);
    expect(outcome, 'the other holder would answer the same').toMatchObject({ kind: 'promised' });
  });

  test('do not lower a promise or a record of the joiner', async () => {
    await using cluster = await initializing();
    const [, , source, joiner] = cluster.devices;
    await source!.store.write([promise('x', 10), promise('y', 10)]);
    await joiner!.store.write([promise('x', 20), { ...promise('y', 30), isPreparedBallot: false }]);
    expect(await loading(joiner!)).toBe('loaded');
    expect(kept(joiner!)).toEqual(['x 20 3']);
  });

  test('are decided by rounds if an older source does not list them', async () => {
    await using cluster = await initializing();
    const [, , source, joiner] = cluster.devices;
    await source!.store.write([promise('x', 10)]);
    source!.onAnswer = (method, answer) =>
      method === promises.method ? { ...(answer as object), stamps: null } : answer;
    const decided: string[] = [];
    const { active, store, devices, throttle, partial } = joiner!;
    const decide = async (_: string, key: Uint8Array) => decided.push(String(key));
    const task = { active, partition: 0, move: active.ring.moves[0]!, onProgress: () => undefined };
    await loadPartition({ store, devices, decide, throttle, partial }, task);
    expect(decided).toEqual(['x']);
  });
});

describe('a source limits its copies', () => {
  /** 20 devices per server, 2 servers per zone. */
  const places = (id: number) => ({
    ip: `10.0.0.${Math.floor(id / 20)}`,
    zone: Math.floor(id / 40),
  });
  const from = (id: number, count: number) => Array.from({ length: count }, (_, at) => id + at);
  const wide = servedRing({ power: 0, devices: 100 });
  const devices = wide.devices.map((device, id) => device && { ...device, ...places(id) });
  const ring = { ...wide, devices };

  async function opened(cluster: StoreCluster, askers: readonly number[]): Promise<string[]> {
    const [source] = cluster.devices;
    const answers: string[] = [];
    for (const device of askers) {
      const asked = { keyspace: 'cities', ringVersion: 1, partition: 0, assignment: null, device };
      const answer = source!.devices.call({ active: source!.active, device: 0 }, copyOpen, asked);
      answers.push(
        await Promise.resolve(answer).then(
          () => 'opened',
          (error: CodedError) => `${error.code} ${/to \w+|in all/.exec(error.message)?.[0]}`,
        ),
      );
    }
    return answers;
  }

  test.each([
    ['to one server', from(20, 17), copiesToServerMax, 'COPY_BUSY to server'],
    ['to one zone', [...from(40, 12), ...from(60, 13)], copiesToZoneMax, 'COPY_BUSY to zone'],
    [
      'in all',
      [...from(20, 12), ...from(40, 12), ...from(80, 9)],
      copiesOutMax,
      'COPY_BUSY in all',
    ],
  ])('%s, and still answers everything else', async (...[, askers, count, refusal]) => {
    await using cluster = await StoreCluster.open([ring]);
    await cluster.create(0, [0]);
    const wanted = [...Array<string>(count).fill('opened'), refusal];
    expect(await opened(cluster, askers)).toEqual(wanted);
    const asked = { keyspace: 'cities', ringVersion: 1, partitions: [0] };
    const [source] = cluster.devices;
    const holdings = source!.devices.call({ active: source!.active, device: 0 }, digests, asked);
    expect(await holdings).toMatchObject({ holdings: [{ state: 'ready' }] });
  });

  test('and a joiner that asks again after a crash releases its earlier copies', async () => {
    await using cluster = await StoreCluster.open([ring]);
    await cluster.create(0, [0]);
    const again = [20, 20, 20, ...from(21, 15)];
    expect(await opened(cluster, again)).not.toContain('COPY_BUSY to server');
    expect(await opened(cluster, [36])).toEqual(['COPY_BUSY to server']);
  });
});

test('a joiner waits for a busy source, and does not use the other holders', async () => {
  await using cluster = await initializing();
  const [, , source, joiner] = cluster.devices;
  source!.onCall = (method) => {
    if (method === copyOpen.method) throw new CodedError('COPY_BUSY', 'the source is busy');
  };
  expect(await loading(joiner!)).toBe('COPY_BUSY');
  source!.onCall = () => undefined;
  expect(await loading(joiner!)).toBe('loaded');
});

test('a read that the source refuses because of its rate is repeated', async () => {
  await using cluster = await initializing();
  const [, , source, joiner] = cluster.devices;
  let busy = 3;
  source!.onCall = (method) => {
    if (method !== copyRead.method || (busy -= 1) < 0) return;
    throw new CodedError('COPY_BUSY', 'over the rate', { details: { retryAfterMs: 1 } });
  };
  expect(await loading(joiner!)).toBe('loaded');
  expect(busy).toBeLessThan(0);
});
