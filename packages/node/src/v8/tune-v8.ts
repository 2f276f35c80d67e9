// How V8 keeps the memory of a server: all that is changed of it, and the one switch.
import {
  constants,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { collectGarbage } from './collect-garbage.ts';

export type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

/** For a server, before it starts; without it, and with `leaveGarbage`, V8 is as Node has it. */
export function tuneV8(): void {
  disablePretenuring();
  growWhenHindered();
  giveBackAtRest();
}

/**
 * A burst of requests in flight teaches V8 that what they allocate lives long, and from then on it
 * makes that in the old generation, for good and for every request: a third of the processor went
 * into collecting it. In some processes it never came to that, and they were as much faster.
 */
function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** `collectingMs`: in a tick, from which on collecting the youngest garbage hinders a server. */
const growth = { tickMs: 1_000, collectingMs: 80, newSpaceBytesMax: 16 * 1024 * 1024 };

/**
 * In a burst the young generation grows to 128 MB. That saves a tenth of the processor where many
 * requests are in flight, which are copied with each collection, and nothing elsewhere. So beyond
 * `newSpaceBytesMax` it doubles only where it hinders, and once in a tick. Returns what ends it.
 */
export function growWhenHindered({ tickMs, collectingMs, newSpaceBytesMax } = growth): () => void {
  let collectedMs = 0;
  /** A size below which it may grow. */
  let limit = newSpaceBytesMax;
  const observer = new PerformanceObserver((list) => {
    // Of entries of this type Node says more than their type does.
    for (const { detail, duration } of list.getEntries() as GcEntry[]) {
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MINOR) collectedMs += duration;
    }
    allowGrowth(newSpaceBytes() < limit);
  });
  observer.observe({ entryTypes: ['gc'] });
  allowGrowth(newSpaceBytes() < limit);
  const timer = setInterval(() => {
    const young = newSpaceBytes();
    limit = Math.max(newSpaceBytesMax, collectedMs >= collectingMs ? 2 * young : 0);
    collectedMs = 0;
    allowGrowth(young < limit);
  }, tickMs).unref();
  return () => {
    observer.disconnect();
    clearInterval(timer);
    allowGrowth(true);
  };
}

function allowGrowth(isAllowed: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${isAllowed ? 2 : 1}`);
}

/** `usedShare`: of the event loop's time, below which a server is at rest. */
const usual = { tickMs: 10_000, usedShare: 0.05, newSpaceBytesMax: 16 * 1024 * 1024 };

/**
 * Under load the young generation grows to 128 MB. V8 gives memory back some time after it has
 * collected everything, without stopping anybody for it; but who is at rest makes no garbage, so
 * nothing is collected and all is kept. There may be a server for each of sixty disks.
 */
export function giveBackAtRest({ tickMs, usedShare, newSpaceBytesMax } = usual): NodeJS.Timeout {
  let before = performance.eventLoopUtilization();
  /** What was there when everything was last collected: if it still is, that was no use. */
  let kept = 0;
  return setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    const young = newSpaceBytes();
    if (utilization >= usedShare || young <= newSpaceBytesMax || young === kept) return;
    collectGarbage('major');
    kept = young;
  }, tickMs).unref();
}

/** What the young generation has been given, used or not. */
export function newSpaceBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young?.space_size ?? 0;
}
