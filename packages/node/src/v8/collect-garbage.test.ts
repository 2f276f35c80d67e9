import { constants, PerformanceObserver } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { collectEach } from './collect-garbage.ts';
import type { GcEntry } from './tune-v8.ts';

// While V8 is marking the whole heap, it may finish that when a minor collection is requested.
const collecting = [constants.NODE_PERFORMANCE_GC_MINOR, constants.NODE_PERFORMANCE_GC_MAJOR];

test('the young generation is collected once for a certain amount of input', async () => {
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Node gives these entries more fields than their TypeScript type declares.
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
