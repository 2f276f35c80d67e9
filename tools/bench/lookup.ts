#!/usr/bin/env node
// Program: lookups per second on one core, beside their limit, the bare hash: --help
import { hash } from 'node:crypto';
import { printTable } from '@ringwright/base/print-table';
import { seededRandom } from '@ringwright/base/random';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { type Lookup, lookupOf } from '@ringwright/ring/lookup';
import { randomEnds } from '@ringwright/ring/partitioner/hash-ends';
import { jenkins } from '@ringwright/ring/partitioner/jenkins';
import { keyText } from '@ringwright/ring/partitioner/key-text';
import { murmur3 } from '@ringwright/ring/partitioner/murmur3';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import { benchOptions } from './measure/bench-options.ts';
import { machine } from './measure/machine.ts';
import { median } from './measure/median.ts';

const keyCount = 1_000_000;
const keyBytes = 20;
const power = 16;
const replicas = 3;
const deviceCount = 100;
const rounds = 9;
const keySeed = 1;

interface Subject {
  readonly name: string;
  readonly partitioner: Partitioner;
  /** The hash alone, in its fastest form; returns a number so that it is not optimized away. */
  readonly bareHash: (key: Uint8Array) => number;
}

interface Figures {
  readonly name: string;
  readonly lookupsPerSecond: number;
  readonly hashesPerSecond: number;
  readonly ratio: number;
}

const md5Bare = (key: Uint8Array): number => hash('md5', key, 'hex').length;

const listedCount = 10_000;
const drawn = {
  kind: 'hash-intervals',
  partitions: listedCount,
  ends: randomEnds(listedCount, keySeed),
} as const;

/** As random as the keys: all starts differ in their first six bytes. */
function drawnStarts(): string[] {
  return randomEnds(listedCount - 1, keySeed).map((end) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(end);
    return keyText(bytes);
  });
}

const subjects: readonly Subject[] = [
  {
    name: 'md5-shift',
    partitioner: { kind: 'md5-shift', power, prefix: '', suffix: '' },
    bareHash: md5Bare,
  },
  {
    name: 'md5-shift, salted',
    partitioner: { kind: 'md5-shift', power, prefix: '707265', suffix: '737566' },
    bareHash: md5Bare,
  },
  {
    name: 'murmur3-mod',
    partitioner: { kind: 'murmur3-mod', partitions: 2 ** power, seed: 0 },
    bareHash: (key) => murmur3(key, 0),
  },
  {
    name: 'intervals, equal',
    partitioner: { kind: 'hash-intervals', hash: 'murmur3', partitions: 2 ** power },
    bareHash: (key) => murmur3(key, 0),
  },
  {
    name: 'intervals, 10,000',
    partitioner: { ...drawn, hash: 'murmur3' },
    bareHash: (key) => murmur3(key, 0),
  },
  {
    name: 'same, jenkins',
    partitioner: { ...drawn, hash: 'jenkins' },
    bareHash: jenkins,
  },
  {
    name: 'ranges, 10,000',
    partitioner: { kind: 'ranges', partitions: listedCount, starts: drawnStarts() },
    bareHash: (key) => key[0] ?? 0,
  },
];

/** 100 devices of equal weight: 5 zones of 5 servers of 4 devices. */
function buildRing(partitioner: Partitioner): Ring {
  const devices: BuilderState['devices'] = Array.from({ length: deviceCount }, (_, id) => ({
    id,
    region: 1,
    zone: 1 + Math.floor(id / 20),
    ip: `10.0.${Math.floor(id / 20)}.${Math.floor(id / 4) % 5}`,
    port: 6200 + (id % 4),
    device: `sd${id % 4}`,
    weight: 100,
    meta: '',
    state: 'active',
  }));
  const settings = { ring: 'bench', cluster: 'bench', minPartHours: 0, overload: 0 };
  const state: BuilderState = { ...settings, partitioner, replicas, devices };
  const from = { head: null, headId: null, state, direct: true };
  return nextRing(planVersion(from), from);
}

function randomKeys(): readonly Uint8Array[] {
  const random = seededRandom(keySeed);
  const words = Uint32Array.from({ length: (keyCount * keyBytes) / 4 }, () => random.next());
  return Array.from(
    { length: keyCount },
    (_, index) => new Uint8Array(words.buffer, index * keyBytes, keyBytes),
  );
}

/** Calls per second, one call per key. `sink` keeps the results alive. */
function rateOf(keys: readonly Uint8Array[], call: (key: Uint8Array) => number): number {
  let sink = 0;
  const start = performance.now();
  for (const key of keys) sink ^= call(key);
  const seconds = (performance.now() - start) / 1000;
  return (keys.length + (sink & 0)) / seconds;
}

/** Alternates lookup and bare hash, so that a slow phase of the machine affects both. */
function measure({ name, partitioner, bareHash }: Subject, keys: readonly Uint8Array[]): Figures {
  const lookup = lookupOf(buildRing(partitioner));
  // Assigned outside the function, so that the results are really computed.
  let answer: Lookup = { partition: 0, devices: [] };
  const lookups: number[] = [];
  const hashes: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const call = (key: Uint8Array): number => {
      answer = lookup(key);
      return answer.partition;
    };
    lookups.push(rateOf(keys, call));
    hashes.push(rateOf(keys, bareHash));
  }
  const [lookupsPerSecond, hashesPerSecond] = [median(lookups), median(hashes)];
  return { name, lookupsPerSecond, hashesPerSecond, ratio: lookupsPerSecond / hashesPerSecond };
}

function print(figures: readonly Figures[]): void {
  const millions = (rate: number): string => (rate / 1e6).toFixed(2);
  console.log(
    `${keyCount} random ${keyBytes}-byte keys (seed ${keySeed}), one core, ${machine.cpu}`,
  );
  console.log(
    `ring of 2^${power} x ${replicas} on ${deviceCount} devices, median of ${rounds} rounds\n`,
  );
  const lines = printTable(figures, [
    { head: 'partitioner', cell: ({ name }) => name },
    { head: 'lookups M/s', isRight: true, cell: (row) => millions(row.lookupsPerSecond) },
    { head: 'bare hash M/s', isRight: true, cell: (row) => millions(row.hashesPerSecond) },
    { head: 'of bare', isRight: true, cell: ({ ratio }) => `${Math.round(ratio * 100)} %` },
  ]);
  console.log(lines.join('\n'));
}

const { json } = benchOptions({
  name: 'lookup',
  usage: `npm run bench:lookup -- [--json]

Lookups per second on one core, beside their limit, the bare hash.
  --json          one JSON document on standard output`,
  options: { json: { type: 'boolean', default: false } },
});
const keys = randomKeys();
const figures = subjects.map((subject) => measure(subject, keys));
if (json) {
  const setup = { keyCount, keyBytes, keySeed, power, replicas, deviceCount, rounds };
  console.log(JSON.stringify({ benchmark: 'lookup', machine, ...setup, figures }, null, 2));
} else {
  print(figures);
}
