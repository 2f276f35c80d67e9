// Long values are read in several turns of the event loop, however many requests arrive together.
import { setImmediate } from 'node:timers/promises';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { longReadsBytesMax, longValueBytesMin } from '@ringwright/base/limits-listeners';
import type { Store } from '@ringwright/partition/store';
import type { Caller } from '@ringwright/wire/call-channel';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { LongReads } from './long-reads.ts';
import { answerPrepare } from './prepare-answer.ts';
import { answerRead, type ReplicaPorts } from './replica.ts';

const mine = { call: () => Promise.reject(new Error('nobody is called back')) } satisfies Caller;
const request = { keyspace: 'cities', ringVersion: 1, partition: 0, key: Buffer.from('k') };
const ballot = { ...request, ms: 1, tie: 1 };

/** A device whose records all have this length. `reads`: how many it read in each turn. */
function deviceWith(valueBytes: number) {
  const active = activeOn(servedRing({ devices: 1, power: 0, replicas: 1 }), 0);
  const record = { value: Buffer.alloc(valueBytes), ms: 5, tie: 5, expiresMs: 0, origin: null };
  const reads = [0];
  const store = {
    marks: () => ({ state: 'ready', barrierMs: 0, floorMs: 0 }),
    write: () => Promise.resolve([{ kind: 'applied' }]),
    read: () => {
      reads[reads.length - 1] = (reads.at(-1) ?? 0) + 1;
      return record;
    },
  } as unknown as Store;
  const ports = {
    store,
    exchange: { reached: () => active },
    clock: new HybridClock(() => 1),
    inFlight: { track: (_keyspace: string, _partition: number, work: unknown) => work },
    rounds: { enter: () => Promise.resolve(() => undefined) },
    longReads: new LongReads(),
  } as unknown as ReplicaPorts;
  return { ports, reads };
}

/** Begins a new count of reads in each turn, before its first read. */
async function countTurns(reads: number[], untilOver: AbortSignal): Promise<void> {
  while (!untilOver.aborted) {
    await setImmediate();
    reads.push(0);
  }
}

const long = longReadsBytesMax / 4;

test.each([
  ['read', (ports: ReplicaPorts) => answerRead(ports, request, mine)],
  ['prepare', (ports: ReplicaPorts) => answerPrepare(ports, ballot, mine)],
] as const)('a %s of a long value waits until its turn has room', async (_, ask) => {
  const { ports, reads } = deviceWith(long);
  const over = new AbortController();
  const counting = countTurns(reads, over.signal);
  await Promise.all(Array.from({ length: 20 }, async () => ask(ports)));
  over.abort();
  await counting;
  expect(reads.reduce((sum, one) => sum + one, 0)).toBe(20);
  expect(Math.max(...reads)).toBe(4);
});

test('reads that wait are answered in their order, and before later ones', async () => {
  const { ports } = deviceWith(long);
  const order: number[] = [];
  const ask = async (index: number): Promise<void> => {
    await answerRead(ports, request, mine);
    order.push(index);
  };
  const first = Array.from({ length: 10 }, (_, index) => ask(index));
  await setImmediate();
  await Promise.all([...first, ask(10)]);
  expect(order).toEqual([...Array(11).keys()]);
});

test('short values are all read at once', () => {
  const { ports } = deviceWith(longValueBytesMin - 1);
  const answers = Array.from({ length: 1_000 }, () => answerRead(ports, request, mine));
  expect(answers.filter((answer) => answer instanceof Promise)).toEqual([]);
});
