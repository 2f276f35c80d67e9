// Program: alternates puts and gets at a fixed rate until the parent exits. It answers each 'mark'
// of the parent with the figures since the last one. The argument is a LoadSpec as JSON.
import { setTimeout as delay } from 'node:timers/promises';
import { assert } from '@ringwright/base/assert';
import { seededRandom } from '@ringwright/base/random';
import type { FixedRateFigures, LoadSpec } from './load/fixed-rate-run.ts';
import { keyOf } from './load/key-of.ts';
import { type Lane, openTarget } from './load/load-target.ts';
import { median, quantile } from './measure/median.ts';

// Written by fixed-rate-run.ts.
const { addresses, perSecond, inFlight, keys, valueBytes, seed } = JSON.parse(
  process.argv[2] ?? '',
) as LoadSpec;
const random = seededRandom(seed);
const value = Buffer.alloc(valueBytes, 'w');
/** Pause before a failed key is tried again, until it succeeds. */
const retryMs = 5;

interface Window {
  readonly fromMs: number;
  /** Durations of answered calls, by the second of their answer. */
  readonly seconds: number[][];
  errors: number;
  lastError: string;
  longestPutMs: number;
  longestGetMs: number;
}

function newWindow(): Window {
  const errors = { errors: 0, lastError: '' };
  return { fromMs: performance.now(), seconds: [], ...errors, longestPutMs: 0, longestGetMs: 0 };
}

let current = newWindow();

/** Measures from the due time to a successful answer, and counts the failures in between. */
async function succeed(lane: Lane, turn: number, dueMs: number): Promise<void> {
  const key = keyOf(random.below(keys));
  const isPut = turn % 2 === 0;
  for (;;) {
    try {
      if (isPut) await lane.put(key, value);
      else assert((await lane.get(key)) !== null, `${key} is gone`);
      break;
    } catch (error) {
      current.errors += 1;
      current.lastError = String(error);
      await delay(retryMs);
    }
  }
  const nowMs = performance.now();
  const tookMs = nowMs - dueMs;
  const second = Math.floor((nowMs - current.fromMs) / 1000);
  (current.seconds[second] ??= []).push(tookMs);
  if (isPut) current.longestPutMs = Math.max(current.longestPutMs, tookMs);
  else current.longestGetMs = Math.max(current.longestGetMs, tookMs);
}

/** A call that was delayed by the one before counts from its due time. */
async function run(lane: Lane, index: number): Promise<void> {
  const everyMs = perSecond === null ? 0 : (1000 * inFlight) / perSecond;
  let dueMs = performance.now() + (everyMs * index) / inFlight;
  for (let turn = 0; ; turn += 1) {
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await delay(waitMs);
    await succeed(lane, turn, waitMs > 0 || everyMs === 0 ? performance.now() : dueMs);
    dueMs += everyMs;
  }
}

function figures(): FixedRateFigures {
  const { fromMs, seconds, errors, lastError, longestPutMs, longestGetMs } = current;
  const answered = seconds.filter((times) => times !== undefined);
  const times = answered.flat();
  const secondsP99Ms = answered.map((one) => quantile(one, 0.99));
  const rate = (1000 * times.length) / (performance.now() - fromMs);
  const [p50Ms, p99Ms] = [quantile(times, 0.5), quantile(times, 0.99)];
  const longest = { longestPutMs, longestGetMs };
  const tails = { p99Ms, secondsP99Ms, usualP99Ms: median(secondsP99Ms) };
  return { perSecond: rate, p50Ms, ...tails, errors, lastError, ...longest };
}

const { lanes } = await openTarget('client', addresses, inFlight);
process.on('message', () => {
  process.send?.(figures());
  current = newWindow();
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
await Promise.all(lanes.map(run));
