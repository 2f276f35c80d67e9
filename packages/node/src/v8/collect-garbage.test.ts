import { constants, PerformanceObserver } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { collectEach } from './collect-garbage.ts';
import type { GcEntry } from './tune-v8.ts';

// Where V8 is marking the whole heap already, it may finish that when the young are asked for.
const collecting = [constants.NODE_PERFORMANCE_GC_MINOR, constants.NODE_PERFORMANCE_GC_MAJOR];

test('the young are collected once for so much that came', async () => {
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Of entries of this type Node says more than their type does.
      const { kind } = (entry as GcEntry).detail;
      if (collecting.includes(kind)) collections += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  const came = collectEach(4);
  for (let part = 0; part < 12; part += 1) came(1);
  await expect.poll(() => collections).toBeGreaterThanOrEqual(3);
  observer.disconnect();
});
