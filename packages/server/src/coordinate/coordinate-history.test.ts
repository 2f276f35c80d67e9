// Runs random reads and writes during a move in a simulated cluster, with lost messages, delays and
// crashes. Acknowledged writes are not missed, reads never go back, rejected writes are never read.
import { CodedError } from '@ringwright/base/coded-error';
import { parseStamp } from '@ringwright/base/stamp';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { violationsOf } from '../../../../test/support/history.ts';
import type { Operation } from '../../../../test/support/history-operation.ts';
import {
  SimulatedCluster,
  type SimulatedDevice,
  type SimulationOptions,
} from '../../../../test/support/simulated-cluster.ts';
import { sound, useSimulatedTime, versions } from '../../../../test/support/simulated-move.ts';
import { coordinateRead, coordinateWrite } from './coordinate.ts';

useSimulatedTime();

interface Conditions extends SimulationOptions {
  /** Few: reads repair what writes missed. Many: each key is read too seldom for that. */
  readonly keys: number;
}

interface Run {
  readonly history: Operation[];
  readonly finalized: boolean;
}

/** Times come from one counter that rises with every event, so no two are equal. */
class Clients {
  readonly history: Operation[] = [];
  readonly #cluster: SimulatedCluster;
  #events = 0;
  #values = 0;
  readonly #keys: number;

  constructor(cluster: SimulatedCluster, keys: number) {
    this.#cluster = cluster;
    this.#keys = keys;
  }

  async client(operations: number): Promise<void> {
    const { random, devices } = this.#cluster;
    for (let count = 0; count < operations; count += 1) {
      await this.#cluster.pause(40);
      const device = devices[random.below(devices.length)];
      if (device?.up !== true) continue;
      const key = `key ${random.below(this.#keys)}`;
      await (random.below(2) === 0 ? this.#write(device, key) : this.#read(device, key));
    }
  }

  async #write({ coordinator }: SimulatedDevice, key: string): Promise<void> {
    const value = `value ${(this.#values += 1)}`;
    const invokedMs = (this.#events += 1);
    const about = { keyspace: 'cities', consistency: 'quorum' } as const;
    const bytes = { key: Buffer.from(key), value: Buffer.from(value) };
    const result = await coordinateWrite(coordinator, { ...about, ...bytes }).then(
      (stamp) => ({ outcome: 'acked', stamp }) as const,
      resultOf,
    );
    const returnedMs = (this.#events += 1);
    this.history.push({ kind: 'write', key, value, invokedMs, returnedMs, port: 0, ...result });
  }

  async #read({ coordinator }: SimulatedDevice, key: string): Promise<void> {
    const invokedMs = (this.#events += 1);
    const about = { keyspace: 'cities', consistency: 'quorum', key: Buffer.from(key) } as const;
    try {
      const record = await coordinateRead(coordinator, about);
      const value = record?.value ? Buffer.from(record.value).toString() : null;
      const stamp = record && { ms: record.ms, tie: record.tie };
      const result = { value, stamp, outcome: 'acked' } as const;
      const returnedMs = (this.#events += 1);
      this.history.push({ kind: 'read', key, invokedMs, returnedMs, port: 0, ...result });
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
    }
  }
}

/** Returns what the client of a failed write learns. */
function resultOf(error: unknown): Pick<Operation, 'outcome' | 'stamp'> {
  if (!(error instanceof CodedError)) throw error;
  const { outcome, stamp } = error.details;
  const isRejected = outcome === 'rejected';
  return {
    outcome: error.code === 'SUPERSEDED' ? 'superseded' : isRejected ? 'rejected' : 'unknown',
    stamp: parseStamp(String(stamp)),
  };
}

/**
 * Pushes each version to each device after a random pause. Returns false if the joiner does not
 * load in time for version 4.
 */
async function rollOut(cluster: SimulatedCluster, barrier: boolean): Promise<boolean> {
  for (const { version } of cluster.versions.slice(1)) {
    const joiner = cluster.devices[3];
    for (let waits = 0; version === 4 && joiner?.loaded !== true; waits += 1) {
      if (waits === 200) return false;
      await cluster.pause(50);
    }
    const push = async (device: SimulatedDevice): Promise<void> => {
      await cluster.pause(400);
      device.activate(version);
    };
    const pushed = Promise.all(cluster.devices.map(push));
    if (barrier) await pushed;
    else await cluster.pause(60);
  }
  return true;
}

/** Repeatedly cuts one or two devices off from the others for a while. */
async function partitions(cluster: SimulatedCluster): Promise<void> {
  for (let count = 0; count < 12; count += 1) {
    await cluster.pause(100);
    cluster.cutOff = new Set([cluster.random.below(5), cluster.random.below(5)]);
    await cluster.pause(800);
    cluster.cutOff = new Set();
  }
}

async function crashes(cluster: SimulatedCluster): Promise<void> {
  for (let count = 0; count < 2; count += 1) {
    await cluster.pause(500);
    const device = cluster.devices[cluster.random.below(4)];
    if (device === undefined) continue;
    device.up = false;
    await cluster.pause(600);
    device.up = true;
    void device.work();
  }
}

async function simulate(seed: number, { keys, ...options }: Conditions): Promise<Run> {
  const cluster = new SimulatedCluster(seed, versions, options);
  const clients = new Clients(cluster, keys);
  const work = Array.from({ length: 10 }, () => clients.client(25));
  const rollout = rollOut(cluster, cluster.random.below(2) === 0);
  if (cluster.random.below(4) === 0) work.push(crashes(cluster));
  if (cluster.random.below(4) > 0) work.push(partitions(cluster));
  const all = Promise.all([...work, rollout]);
  for (let done = false; !done; ) {
    void all.then(
      () => (done = true),
      () => (done = true),
    );
    await vi.advanceTimersByTimeAsync(1_000);
  }
  await all;
  return { history: clients.history, finalized: await rollout };
}

function conditionsOf(seed: number): Conditions {
  const keys = seed % 2 === 0 ? 2 : 10;
  return { ...sound, keys, ...(seed % 5 === 0 && { wrongClock: 4 }) };
}

const seeds = Array.from({ length: 150 }, (_, index) => index + 1);
const seen = new Map<string, number>();

describe('reads and writes run during a move', () => {
  test('no history of 150 seeds violates the guarantees', async () => {
    for (const seed of seeds) {
      const { history, finalized } = await simulate(seed, conditionsOf(seed));
      expect(violationsOf(history), `seed ${seed}`).toEqual([]);
      for (const entry of history) {
        const what = entry.kind === 'read' ? 'read' : entry.outcome;
        seen.set(what, (seen.get(what) ?? 0) + 1);
      }
      if (finalized) seen.set('finalized', (seen.get('finalized') ?? 0) + 1);
    }
  });

  afterAll(() => {
    // A run in which one of these never occurs proves nothing.
    for (const what of ['acked', 'superseded', 'rejected', 'unknown', 'read', 'finalized']) {
      expect(seen.get(what) ?? 0, what).toBeGreaterThan(0);
    }
  });
});
