#!/usr/bin/env node
// Program: pushes one ring to many WebSocket listeners on this machine, whole and as a delta.
// --listeners N (default 1000), --power P (default 20), --json for machines, --help.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { assert } from '@ringwright/base/assert';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { printTable } from '@ringwright/base/print-table';
import { Link } from '@ringwright/node/link/link';
import { makeRingDelta } from '@ringwright/ring/file/ring-delta';
import { greetServer } from '@ringwright/wire/greet-server';
import { type Sending, type SentRing, sendRing } from '@ringwright/wire/send-ring';
import { benchOptions } from './measure/bench-options.ts';
import { machine } from './measure/machine.ts';
import { median, quantile } from './measure/median.ts';
import { type PushedVersion, pushVersions } from './push/push-versions.ts';

/** The concurrency of `ring-builder push`. */
const serversAtOnce = 32;
const callTimeoutMs = 60_000;
const workerCount = 2;

const legend = [
  'all swapped: until the last listener has the file whole, decoded, audited and in force.',
  'whole: the ring file; delta: what makes it of the version before, 0.1 % of the slots moved.',
  'Each listener is a real WebSocket endpoint that does all of that for itself. Left out: its disk,',
  'signatures, and other machines: pusher and listeners share the cores, so seconds are an upper bound.',
];

interface Figures {
  readonly name: 'whole' | 'delta';
  /** Until the last listener has verified and swapped. */
  readonly seconds: number;
  /** Ring bytes in chunks, to all listeners. */
  readonly bytesSent: number;
  readonly bytesPerListener: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Memory of the larger worker, afterwards. */
  readonly workerRssBytes: number;
}

interface Worker {
  readonly child: ChildProcess;
  readonly ports: readonly number[];
}

async function startWorker(file: string, count: number): Promise<Worker> {
  const program = path.join(import.meta.dirname, 'push-listeners.ts');
  const child = fork(program, [file, String(count)]);
  const [{ ports }] = (await once(child, 'message')) as [{ ports: number[] }];
  return { child, ports };
}

/** Resets the listeners to version 1, and asserts that each of them had `id`. */
async function reset({ child }: Worker, id: string): Promise<number> {
  const answered = once(child, 'message');
  child.send('reset');
  const [{ ids, rssBytes }] = (await answered) as [{ ids: string[]; rssBytes: number }];
  assert(
    ids.every((one) => one === id),
    'every listener has the version',
  );
  return rssBytes;
}

async function pushTo(port: number, ring: SentRing): Promise<Sending> {
  const link = new Link(`127.0.0.1:${port}`, {
    handlers: new Map(),
    monotonicMs: () => performance.now(),
    connectTimeoutMs: callTimeoutMs,
    greet: (address, caller) => greetServer(caller, { address, timeoutMs: callTimeoutMs }),
  });
  try {
    return await sendRing(await link.connect(), ring);
  } finally {
    link.close();
  }
}

async function measure(
  name: Figures['name'],
  workers: readonly Worker[],
  [from, to]: readonly [PushedVersion, PushedVersion],
): Promise<Figures> {
  const started = performance.now();
  // Included in the time: a push makes its delta once.
  const delta = name === 'delta' ? makeRingDelta(from.bytes, to.bytes) : null;
  const deltaFrom = (): Promise<Buffer | null> => Promise.resolve(delta);
  const ring = { ...to, keyspace: 'bench', deltaFrom, timeoutMs: callTimeoutMs };
  // Alternates the ports of the workers, so that all of them are busy all the time.
  const longest = Math.max(...workers.map(({ ports }) => ports.length));
  const ports = Array.from({ length: longest }, (_, index) =>
    workers.flatMap((worker) => worker.ports[index] ?? []),
  ).flat();
  const pushed = await mapConcurrent(ports, serversAtOnce, async (port) => {
    const before = performance.now();
    const sending = await pushTo(port, ring);
    assert(sending.how === name, `sent ${sending.how}, measured ${name}`);
    return { ms: performance.now() - before, bytes: sending.bytesSent };
  });
  const seconds = (performance.now() - started) / 1_000;
  const times = pushed.map(({ ms }) => ms);
  const bytesSent = pushed.reduce((sum, { bytes }) => sum + bytes, 0);
  const rss = await Promise.all(workers.map((worker) => reset(worker, to.id)));
  return {
    ...{ name, seconds, bytesSent, bytesPerListener: bytesSent / ports.length },
    ...{ p50Ms: median(times), p99Ms: quantile(times, 0.99), workerRssBytes: Math.max(...rss) },
  };
}

async function run(listeners: number, power: number): Promise<readonly Figures[]> {
  const versions = pushVersions(power);
  await using ends = new AsyncDisposableStack();
  const folder = ends.use(await fs.mkdtempDisposable(path.join(os.tmpdir(), 'ringwright-bench-')));
  const file = path.join(folder.path, '1.ring');
  await fs.writeFile(file, versions[0].bytes);
  const workers: Worker[] = [];
  for (let index = 0; index < workerCount; index += 1) {
    const count = Math.floor((listeners + index) / workerCount);
    workers.push(ends.adopt(await startWorker(file, count), ({ child }) => child.disconnect()));
  }
  return [await measure('whole', workers, versions), await measure('delta', workers, versions)];
}

function print(figures: readonly Figures[], listeners: number, power: number): void {
  const { cpu, cores, node } = machine;
  console.log(`2^${power} x 3 ring to ${listeners} listeners in ${workerCount} processes`);
  console.log(`${serversAtOnce} at a time, ${cores} cores (${cpu}), node ${node}\n`);
  const lines = printTable(figures, [
    { head: 'sent', cell: ({ name }) => name },
    { head: 'all swapped', isRight: true, cell: ({ seconds }) => `${seconds.toFixed(1)} s` },
    { head: 'bytes sent', isRight: true, cell: (row) => row.bytesSent.toLocaleString('en') },
    {
      head: 'bytes each',
      isRight: true,
      cell: (row) => Math.round(row.bytesPerListener).toLocaleString('en'),
    },
    { head: 'p50 ms', cell: ({ p50Ms }) => Math.round(p50Ms) },
    { head: 'p99 ms', cell: ({ p99Ms }) => Math.round(p99Ms) },
    { head: 'worker MB', cell: ({ workerRssBytes }) => Math.round(workerRssBytes / 1e6) },
  ]);
  console.log(lines.join('\n'));
  console.log(`\n${legend.join('\n')}`);
}

const values = benchOptions({
  name: 'push',
  usage: `npm run bench:push -- [--listeners N] [--power P] [--json]\n\n${legend.join('\n')}`,
  options: {
    listeners: { type: 'string', default: '1000' },
    power: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});
const [listeners, power] = [Number(values.listeners), Number(values.power)];
const figures = await run(listeners, power);
if (values.json) {
  const setup = { listeners, power, replicas: 3, movedShare: 0.001, serversAtOnce, workerCount };
  console.log(JSON.stringify({ benchmark: 'push', machine, ...setup, figures }, null, 2));
} else print(figures, listeners, power);
