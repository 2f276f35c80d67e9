// Program for one measurement: calls of one kind in a closed loop with fixed concurrency, in its
// own process. The argument is a Load as JSON; it prints the LoadFigures.
import { seededRandom } from '@ringwright/base/random';
import { keyOf } from './load/key-of.ts';
import type { Load } from './load/load-run.ts';
import { type Lane, openTarget } from './load/load-target.ts';
import { quantile } from './measure/median.ts';
import type { LoadFigures } from './peers/redis-benchmark.ts';

// Written by load-run.ts.
const load = JSON.parse(process.argv[2] ?? '') as Load;
const { kind, addresses, op, seconds, inFlight, from = 0, keys, valueBytes, seed } = load;
const random = seededRandom(seed);
const value = Buffer.from(Array.from({ length: valueBytes }, () => 97 + random.below(26)));

async function callOnce(lane: Lane, key: string): Promise<void> {
  if (op === 'get') {
    if ((await lane.get(key)) !== valueBytes)
      throw new Error(`${key} has no value of ${valueBytes} bytes`);
  } else await lane.put(key, value);
}

async function run(): Promise<void> {
  const target = await openTarget(kind, addresses, inFlight);
  console.log(JSON.stringify(await (op === 'fill' ? fill : measure)(target.lanes)));
  await target.close();
}

async function fill(lanes: readonly Lane[]): Promise<LoadFigures> {
  let next = from;
  const started = performance.now();
  const times: number[] = [];
  const run = async (lane: Lane): Promise<void> => {
    while (next < keys) times.push(await timed(lane, keyOf(next++)));
  };
  await Promise.all(lanes.map(run));
  return figuresOf(times, started);
}

/** Warms up compilers and caches first, uncounted, for another quarter of the time. */
async function measure(lanes: readonly Lane[]): Promise<LoadFigures> {
  const times: number[] = [];
  const fromMs = performance.now() + 250 * seconds;
  const untilMs = fromMs + 1000 * seconds;
  const call = (lane: Lane): Promise<number> => timed(lane, keyOf(random.below(keys)));
  const run = async (lane: Lane): Promise<void> => {
    while (performance.now() < fromMs) await call(lane);
    do times.push(await call(lane));
    while (performance.now() < untilMs);
  };
  await Promise.all(lanes.map(run));
  return figuresOf(times, fromMs);
}

async function timed(lane: Lane, key: string): Promise<number> {
  const before = performance.now();
  await callOnce(lane, key);
  return performance.now() - before;
}

function figuresOf(times: readonly number[], fromMs: number): LoadFigures {
  const perSecond = (1000 * times.length) / (performance.now() - fromMs);
  return { perSecond, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}

await run();
