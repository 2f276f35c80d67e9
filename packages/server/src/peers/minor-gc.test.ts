import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { minorGcBytesMax } from '@ringwright/base/limits-copies';
import { expect, test } from 'vitest';
import { longMessageCame } from './minor-gc.ts';

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

test('the young are collected once for so many bytes, and the whole heap is not', async () => {
  const kinds: unknown[] = [];
  const observer = new PerformanceObserver((list) => {
    // Of entries of this type Node says more than their type does.
    for (const entry of list.getEntries()) kinds.push((entry as GcEntry).detail.kind);
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let part = 0; part < 12; part += 1) longMessageCame(minorGcBytesMax / 4);
  await expect.poll(() => kinds.length).toBeGreaterThanOrEqual(3);
  await setTimeout(0);
  observer.disconnect();
  expect(kinds).toContain(constants.NODE_PERFORMANCE_GC_MINOR);
  expect(kinds).not.toContain(constants.NODE_PERFORMANCE_GC_MAJOR);
});
