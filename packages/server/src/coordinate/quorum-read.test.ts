// Tests quorum reads, of one record and the stamps of the others. Holders differ, change during the
// read, are slow or fail. The oracle is a model of what each device held, and when.
import { CodedError } from '@ringwright/base/coded-error';
import { readHedgeMs } from '@ringwright/base/limits';
import { type Random, seededRandom } from '@ringwright/base/random';
import { parseFailureDomain } from '@ringwright/ring/failure-domain';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { recordRead, recordStamp } from '@ringwright/wire/records';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { writeByCall } from '../../../../test/support/write-by-call.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { WireContent } from '../replica/wire-record.ts';
import { type QuorumReadResult, quorumRead } from './quorum-read.ts';

const legMsMax = 5;
const slowLegMs = 400;
const devices = 6;

beforeEach(() => vi.useFakeTimers({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => vi.useRealTimers());

type Mood = 'sound' | 'slow' | 'dead' | 'stopped';

/** A tenth of the records are deletions. */
function recordOf(ms: number): WireContent {
  return { value: ms % 10 === 0 ? null : Buffer.from(`value ${ms}`), ms, tie: 0 };
}

class Holders {
  readonly calls: string[] = [];
  readonly random: Random;
  /** By device: the records it has held, each with its start; the last one is current. */
  readonly held: { readonly record: WireContent; readonly fromMs: number }[][];
  readonly moods: Mood[];
  readonly self: number;
  /** Called before a device answers, to change records in the middle of a read. */
  onAnswer: (method: string, device: number) => void = () => undefined;

  constructor(seed: number, self: number) {
    this.random = seededRandom(seed);
    this.held = Array.from({ length: devices }, () => []);
    this.moods = this.held.map(() => 'sound');
    this.self = self;
  }

  /** Last write wins. */
  put(device: number, ms: number): void {
    const held = this.held[device]!;
    if (ms > (held.at(-1)?.record.ms ?? 0)) held.push({ record: recordOf(ms), fromMs: Date.now() });
  }

  record(device: number): WireContent | null {
    return this.held[device]!.at(-1)?.record ?? null;
  }

  get caller(): DeviceCaller {
    const call = ({ device }: { device: number }, { method }: { method: string }): unknown => {
      this.calls.push(`${method} ${device}`);
      const answer = () => {
        this.onAnswer(method, device);
        const record = this.record(device);
        if (method === recordRead.method) return { record };
        expect(method).toBe(recordStamp.method);
        return { stamp: record && { ms: record.ms, tie: record.tie } };
      };
      return device === this.self ? answer() : this.#travel(device, answer);
    };
    const typed = call as DeviceCaller['call'];
    return { call: typed, write: writeByCall(typed) };
  }

  async #travel<T>(device: number, answer: () => T): Promise<T> {
    await this.#leg(device);
    if (this.moods[device] === 'dead') throw new CodedError('PEER_UNREACHABLE', 'dead');
    const answered = answer();
    await this.#leg(device);
    return answered;
  }

  #leg(device: number): Promise<void> {
    const mood = this.moods[device];
    if (mood === 'stopped') return new Promise(() => undefined);
    const ms = mood === 'slow' ? slowLegMs : this.random.below(legMsMax + 1);
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function askedOf(holders: Holders, replicas: number) {
  const ring = servedRing({ devices, replicas, power: 0 });
  const slots = slotsOf(ring, 0);
  const needed = Math.floor(replicas / 2) + 1;
  const active = activeOn(ring, holders.self);
  return { active, partition: 0, key: Buffer.from('key'), slots, needed };
}

/** Returns what a read finds, 'failed' if it rejects, and how long it took. */
async function gather(holders: Holders, replicas: number) {
  const startMs = Date.now();
  const work = Promise.resolve(quorumRead(holders.caller, askedOf(holders, replicas)));
  let found: QuorumReadResult | 'failed' | null = null;
  work.then(
    (read) => (found = read),
    () => (found = 'failed'),
  );
  await vi.advanceTimersByTimeAsync(0);
  while (found === null && Date.now() < startMs + 10_000) await vi.advanceTimersByTimeAsync(1);
  return { found: found as QuorumReadResult | 'failed' | null, tookMs: Date.now() - startMs };
}

test('if holders agree, one sends its record and the others their stamps, each once', async () => {
  for (const self of [1, 5]) {
    const holders = new Holders(1, self);
    for (let device = 0; device < devices; device += 1) holders.put(device, 7);
    const { found } = await gather(holders, 5);
    const order = self === 1 ? [1, 0, 2] : [0, 1, 2];
    expect(holders.calls).toEqual([
      `read ${order[0]}`,
      ...order.slice(1).map((id) => `stamp ${id}`),
    ]);
    expect(found).toMatchObject({ newest: recordOf(7), holders: expect.arrayContaining(order) });
  }
});

test('a device that replaces a slow one sends its record only if none has arrived', async () => {
  const callsWhere = async (slow: number): Promise<string[]> => {
    const holders = new Holders(1, 5);
    for (let device = 0; device < devices; device += 1) holders.put(device, 7);
    holders.moods[slow] = 'stopped';
    expect((await gather(holders, 3)).found).toMatchObject({ newest: recordOf(7) });
    return holders.calls;
  };
  expect(await callsWhere(0)).toEqual(['read 0', 'stamp 1', 'read 2']);
  expect(await callsWhere(1)).toEqual(['read 0', 'stamp 1', 'stamp 2']);
});

const placeOf = (written: string): { region: number; zone: number } => {
  const { region, zone } = parseFailureDomain(written);
  return { region, zone: zone! };
};

test('a read queries this device first, then its zone, its region and the rest', () => {
  const plain = servedRing({ devices: 5, replicas: 5, power: 0 });
  const places = ['r2z1', 'r1z2', 'r2z2', 'r1z1', 'r1z1'];
  const devices = plain.devices.map((device, id) => ({ ...device!, ...placeOf(places[id]!) }));
  const ring: Ring = { ...plain, devices };
  const asked = (self: number, needed: number): number[] => {
    const holders = new Holders(1, self);
    const slots = slotsOf(ring, 0);
    const about = { partition: 0, key: Buffer.from('key'), slots, needed };
    void quorumRead(holders.caller, { active: activeOn(ring, self), ...about });
    return holders.calls.map((call) => Number(call.split(' ')[1]));
  };
  expect(asked(4, 5)).toEqual([4, 3, 1, 0, 2]);
  expect(asked(2, 3)).toEqual([2, 0, 1]);
});

test('a newest stamp without its record is read from holders that have answered', async () => {
  const holders = new Holders(1, 2);
  holders.moods[0] = 'stopped';
  holders.put(2, 3);
  holders.put(1, 7);
  const ordered = askedOf(holders, 3);
  expect(ordered.slots.map(({ device }) => device)).toEqual([0, 1, 2]);
  const { found, tookMs } = await gather(holders, 3);
  expect(found).toEqual({ newest: recordOf(7), holders: [1] });
  expect(tookMs).toBeLessThanOrEqual(readHedgeMs + 4 * legMsMax);
});

test('a record overwritten after its stamp was sent is returned in its newer form', async () => {
  const holders = new Holders(1, 0);
  holders.put(1, 7);
  holders.onAnswer = (method, device) => {
    if (method === recordRead.method && device === 1) holders.put(1, 8);
  };
  const { found } = await gather(holders, 3);
  expect(found).toEqual({ newest: recordOf(8), holders: [1] });
});

test.each(Array.from({ length: 300 }, (_, index) => index + 1))(
  'a read misses no acknowledged record and names its true holders: seed %i',
  async (seed) => {
    const random = seededRandom(seed);
    const replicas = random.below(2) === 0 ? 3 : 5;
    const holders = new Holders(seed, random.below(devices));
    for (let device = 0; device < devices; device += 1) {
      for (let writes = random.below(3); writes > 0; writes -= 1)
        holders.put(device, random.below(6));
      const isHurt = device !== holders.self && random.below(3) === 0;
      if (isHurt) holders.moods[device] = (['slow', 'dead', 'stopped'] as const)[random.below(3)]!;
    }
    const { needed, slots } = askedOf(holders, replicas);
    const ids = slots.map(({ device }) => device);
    const sound = ids.filter((id) => holders.moods[id] === 'sound').length;
    const before = ids.map((id) => holders.record(id)?.ms ?? 0).sort((a, b) => b - a);
    // The newest record that a write quorum of slots held at the start must not be missed.
    const acknowledged = before[replicas - needed]!;
    for (let writes = random.below(4); writes > 0; writes -= 1) {
      const [device, ms] = [random.below(devices), 6 + random.below(20)];
      setTimeout(() => holders.put(device, ms), random.below(2 * readHedgeMs));
    }
    const startMs = Date.now();
    const { found, tookMs } = await gather(holders, replicas);
    if (sound >= needed) {
      // A newest stamp without its record causes a second read, which may hedge too. It fails only
      // if a holder falls silent in between, and none does here.
      expect(found).not.toBe('failed');
      expect(tookMs).toBeLessThanOrEqual(2 * readHedgeMs + 8 * legMsMax);
    }
    if (found === null || found === 'failed') return;
    expect(found.newest?.ms ?? 0).toBeGreaterThanOrEqual(acknowledged);
    if (found.newest === null) return;
    expect(found.newest).toEqual(recordOf(found.newest.ms));
    expect(found.holders.length).toBeGreaterThan(0);
    for (const id of found.holders) {
      const held = holders.held[id]!;
      const at = held.findIndex(({ record }) => record.ms === found.newest?.ms);
      expect(at, `device ${id} held the record`).toBeGreaterThanOrEqual(0);
      expect(held[at + 1]?.fromMs ?? startMs, 'during the read').toBeGreaterThanOrEqual(startMs);
    }
  },
);
