// Runs conditional, linearizable and plain writes during a move in a simulated cluster, with lost
// messages, delays, crashes and differing clocks. The oracle is a register: for every history some
// order of its operations must explain all answers.
import { CodedError } from '@ringwright/base/coded-error';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { type RegisterOperation, unexplained } from '../../../../test/support/linearizable.ts';
import {
  SimulatedCluster,
  type SimulatedDevice,
  type SimulationOptions,
} from '../../../../test/support/simulated-cluster.ts';
import { sound, useSimulatedTime, versions } from '../../../../test/support/simulated-move.ts';
import { identityOf, type WireContent } from '../replica/wire-record.ts';
import { changeKey } from './change-key.ts';
import { coordinateRead, coordinateWrite } from './coordinate.ts';

useSimulatedTime();

type State = string | null;
type Finished = (RegisterOperation<State> & { readonly key: string }) | null;

const textOf = (record: WireContent | null): State =>
  record?.value ? Buffer.from(record.value).toString() : null;

/** Number of answers by kind. A run in which some kind never occurs proves nothing. */
const seen = new Map<string, number>();
const saw = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

class Clients {
  readonly history: NonNullable<Finished>[] = [];
  readonly #cluster: SimulatedCluster;
  #events = 0;
  #values = 0;

  constructor(cluster: SimulatedCluster) {
    this.#cluster = cluster;
  }

  async client(operations: number): Promise<void> {
    const { random, devices } = this.#cluster;
    let known: { readonly key: string; readonly stamp: Stamp; readonly value: State } | null = null;
    for (let count = 0; count < operations; count += 1) {
      await this.#cluster.pause(30);
      const device = devices[random.below(devices.length)];
      if (device?.up !== true) continue;
      const dice = random.below(10);
      if (known !== null && dice < 4) {
        await this.#swap(device, known);
        known = null;
      } else if (dice < 6) await this.#put(device, `key ${random.below(2)}`, dice % 2 === 0);
      else {
        const key = `key ${random.below(2)}`;
        const record = await this.#read(device, key);
        if (record) known = { key, stamp: identityOf(record), value: textOf(record) };
      }
    }
  }

  async #operate(
    key: string,
    work: () => Promise<Pick<RegisterOperation<State>, 'name' | 'apply'> & { isOpen?: boolean }>,
  ): Promise<void> {
    const invoked = (this.#events += 1);
    const { isOpen = false, ...result } = await work();
    const returned = isOpen ? Number.POSITIVE_INFINITY : (this.#events += 1);
    this.history.push({ key, invoked, returned, ...result });
  }

  async #read({ coordinator }: SimulatedDevice, key: string): Promise<WireContent | null> {
    const about = {
      keyspace: 'cities',
      key: Buffer.from(key),
      consistency: 'linearizable',
    } as const;
    let record: WireContent | null = null;
    await this.#operate(key, async () => {
      try {
        record = await coordinateRead(coordinator, about);
      } catch (error) {
        return failed(error, 'read', (state) => ({ state }));
      }
      saw('read');
      const found = textOf(record);
      return { name: `read ${found}`, apply: (state) => (state === found ? { state } : null) };
    });
    return record;
  }

  async #put({ coordinator }: SimulatedDevice, key: string, isPlain: boolean): Promise<void> {
    const value = `v${(this.#values += 1)}`;
    const consistency = isPlain ? 'quorum' : 'linearizable';
    const about = { keyspace: 'cities', key: Buffer.from(key), consistency } as const;
    await this.#operate(key, async () => {
      const apply = () => ({ state: value });
      try {
        await coordinateWrite(coordinator, { ...about, value: Buffer.from(value) });
      } catch (error) {
        return failed(error, `${consistency} put ${value}`, apply);
      }
      saw(`${consistency} put`);
      return { name: `${consistency} put ${value}`, apply };
    });
  }

  /** Writes a new value if the key still holds the record that was read. */
  async #swap(
    { coordinator }: SimulatedDevice,
    {
      key,
      stamp,
      value: expected,
    }: { readonly key: string; readonly stamp: Stamp; readonly value: State },
  ): Promise<void> {
    const value = `v${(this.#values += 1)}`;
    const name = `swap ${expected} for ${value}`;
    const apply = (state: State) => (state === expected ? { state: value } : null);
    const bytes = { value: Buffer.from(value) };
    await this.#operate(key, async () => {
      const about = { keyspace: 'cities', key: Buffer.from(key) };
      try {
        const isHeld = (present: WireContent | null): boolean =>
          present !== null && compareStamps(identityOf(present), stamp) === 0;
        const done = await changeKey(coordinator, about, (now) => (isHeld(now) ? bytes : null));
        saw(done.isChanged ? 'swapped' : 'not swapped');
        if (done.isChanged) return { name, apply };
        const found = textOf(done.record);
        const stays = (state: State) => (state === found ? { state } : null);
        return { name: `${name}, found ${found}`, apply: stays };
      } catch (error) {
        return failed(error, name, apply);
      }
    });
  }
}

/** Returns what a failed operation may have done: nothing if it was rejected, else perhaps all. */
function failed(
  error: unknown,
  name: string,
  apply: (state: State) => { readonly state: State } | null,
) {
  if (!(error instanceof CodedError)) throw error;
  const isRejected = error.details.outcome === 'rejected';
  saw(isRejected ? 'rejected' : error.code);
  if (isRejected) return { name: `${name}, rejected`, apply: (state: State) => ({ state }) };
  return { name: `${name}, ${error.code}`, apply, isOpen: true };
}

async function rollOut(cluster: SimulatedCluster): Promise<void> {
  for (const { version } of cluster.versions.slice(1)) {
    const joiner = cluster.devices[3];
    for (let waits = 0; version === 4 && joiner?.loaded !== true; waits += 1) {
      if (waits === 200) return;
      await cluster.pause(50);
    }
    for (const device of cluster.devices) {
      void cluster.pause(300).then(() => device.activate(version));
    }
    await cluster.pause(80);
  }
  saw('finalized');
}

async function faults(cluster: SimulatedCluster): Promise<void> {
  for (let count = 0; count < 6; count += 1) {
    await cluster.pause(100);
    cluster.cutOff = new Set([cluster.random.below(5), cluster.random.below(5)]);
    const device = cluster.devices[cluster.random.below(4)];
    if (device !== undefined && cluster.random.below(3) === 0) device.up = false;
    await cluster.pause(500);
    cluster.cutOff = new Set();
    if (device === undefined) continue;
    device.up = true;
    void device.work();
  }
}

async function simulate(seed: number, options: SimulationOptions): Promise<Clients['history']> {
  const cluster = new SimulatedCluster(seed, versions, options);
  const clients = new Clients(cluster);
  const work = Array.from({ length: 6 }, () => clients.client(14));
  if (seed % 4 !== 0) work.push(rollOut(cluster));
  if (seed % 3 !== 0) work.push(faults(cluster));
  const all = Promise.all(work);
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  all.then(end, end);
  while (!isDone) await vi.advanceTimersByTimeAsync(1_000);
  await all;
  return clients.history;
}

function breaches(history: Clients['history']): string[] {
  return [...Map.groupBy(history, ({ key }) => key)].flatMap(([key, ofKey]) => {
    const breach = unexplained(ofKey, null);
    return breach === null ? [] : [`${key}: ${breach}`];
  });
}

const seeds = Array.from({ length: Number(process.env.SEEDS ?? 120) }, (_, index) => index + 1);

describe('rounds and plain writes run during a move', () => {
  test(`every history of ${seeds.length} seeds is linearizable`, async () => {
    for (const seed of seeds) {
      const options = seed % 5 === 0 ? { ...sound, wrongClock: 4 } : sound;
      expect(breaches(await simulate(seed, options)), `seed ${seed}`).toEqual([]);
    }
  }, 240_000);

  afterAll(() => {
    const wanted = [
      'read',
      'quorum put',
      'linearizable put',
      'swapped',
      'not swapped',
      'finalized',
    ];
    for (const what of [...wanted, 'rejected', 'SUPERSEDED', 'KEY_OVERTAKEN']) {
      expect(seen.get(what) ?? 0, what).toBeGreaterThan(0);
    }
    if (process.env.SEEDS) console.log(seen);
  });
});
