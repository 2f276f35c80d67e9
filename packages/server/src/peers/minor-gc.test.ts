import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { minorGcBytesMax } from '@ringwright/base/limits-copies';
import { expect, test } from 'vitest';
import { longMessageCame } from './minor-gc.ts';

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

// Where V8 is marking the whole heap already, it may finish that when the young are asked for.
const collecting = [constants.NODE_PERFORMANCE_GC_MINOR, constants.NODE_PERFORMANCE_GC_MAJOR];

test('the young are collected once for so many bytes', async () => {
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Of entries of this type Node says more than their type does.
      const { kind } = (entry as GcEntry).detail;
      if (collecting.includes(kind)) collections += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let part = 0; part < 12; part += 1) longMessageCame(minorGcBytesMax / 4);
  await expect.poll(() => collections).toBeGreaterThanOrEqual(3);
  observer.disconnect();
});
