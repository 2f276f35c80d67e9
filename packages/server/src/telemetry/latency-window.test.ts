// The percentile of latencies against a sorted list. Old turns are forgotten.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { LatencyWindow } from './latency-window.ts';

test('the 99th percentile of any times is at most a bucket above the exact one', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = seededRandom(seed);
    const window = new LatencyWindow(3);
    const times: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      window.round();
      for (let count = random.below(300) + 1; count > 0; count -= 1) {
        const ms = 2 ** (random.below(1_600) / 100 - 4);
        times.push(ms);
        window.add(ms);
      }
    }
    times.sort((a, b) => a - b);
    const exact = times[Math.ceil(times.length * 0.99) - 1] ?? 0;
    const found = window.p99Ms(1) ?? 0;
    expect(found / exact, `seed ${seed}`).toBeGreaterThanOrEqual(1);
    expect(found / exact, `seed ${seed}`).toBeLessThan(1.2);
  }
});

test('too few requests have no percentile, and turns that have passed do not count', () => {
  const window = new LatencyWindow(2);
  for (let count = 0; count < 10; count += 1) window.add(1_000);
  expect(window.p99Ms(11)).toBeNull();
  window.round();
  for (let count = 0; count < 10; count += 1) window.add(1);
  expect(window.p99Ms(11)).toBeGreaterThan(999);
  window.round();
  expect(window.p99Ms(10)).toBeLessThan(1.2);
});

test('times beyond both ends count in the outer buckets', () => {
  const window = new LatencyWindow(1);
  window.add(0);
  expect(window.p99Ms(1)).toBeLessThan(0.1);
  window.add(1e9);
  expect(window.p99Ms(1)).toBe(65_536);
});
