// Program of one measurement: calls of one kind in a closed loop, so many at a time, in a process
// of its own. The argument is a Load as JSON; what it prints are the LoadFigures.
import { seededRandom } from '@ringwright/base/random';
import type { Load } from './load-run.ts';
import { type Lane, openTarget } from './load-target.ts';
import { quantile } from './median.ts';

// Written by load-run.ts.
const load = JSON.parse(process.argv[2] ?? '') as Load;
const { kind, addresses, op, seconds, inFlight, keys, valueBytes, seed } = load;
const random = seededRandom(seed);
const value = Buffer.from(Array.from({ length: valueBytes }, () => 97 + random.below(26)));

const keyAt = (index: number): string => `key:${String(index).padStart(12, '0')}`;

async function callOnce(lane: Lane, key: string): Promise<void> {
  if (op === 'get') {
    if ((await lane.get(key)) !== valueBytes)
      throw new Error(`${key} has no value of ${valueBytes} bytes`);
  } else await lane.put(key, value);
}

async function run(): Promise<void> {
  const target = await openTarget(kind, addresses, inFlight);
  if (op === 'fill') await fill(target.lanes);
  else console.log(JSON.stringify(await measure(target.lanes)));
  await target.close();
}

async function fill(lanes: readonly Lane[]): Promise<void> {
  let next = 0;
  const run = async (lane: Lane): Promise<void> => {
    while (next < keys) await callOnce(lane, keyAt(next++));
  };
  await Promise.all(lanes.map(run));
  console.log('{}');
}

/** A quarter of the time more goes before, uncounted: compilers and caches warm up. */
async function measure(lanes: readonly Lane[]): Promise<unknown> {
  const times: number[] = [];
  const fromMs = performance.now() + 250 * seconds;
  const untilMs = fromMs + 1000 * seconds;
  const timed = async (lane: Lane): Promise<number> => {
    const before = performance.now();
    await callOnce(lane, keyAt(random.below(keys)));
    return performance.now() - before;
  };
  const run = async (lane: Lane): Promise<void> => {
    while (performance.now() < fromMs) await timed(lane);
    do times.push(await timed(lane));
    while (performance.now() < untilMs);
  };
  await Promise.all(lanes.map(run));
  const perSecond = (1000 * times.length) / (performance.now() - fromMs);
  return { perSecond, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}

await run();
