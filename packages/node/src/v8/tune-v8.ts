// All changes to V8's memory management in a server, and the one switch for them.
import {
  constants,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { collectGarbage } from './collect-garbage.ts';

export type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

/**
 * Called by a server before it starts; without it, and with `leaveGarbage`, V8 runs as Node
 * configures it.
 */
export function tuneV8(): void {
  disablePretenuring();
  growWhenHindered();
  giveBackAtRest();
}

/**
 * A burst of requests in flight teaches V8 that their allocations live long. From then on it
 * allocates them in the old generation, for good and for every request: collecting them took a
 * third of the CPU. Processes where that never happened were faster by as much.
 */
function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** `collectingMs`: minor collections of this long per tick slow a server down. */
const growth = { tickMs: 1_000, collectingMs: 80, newSpaceBytesMax: 16 * 1024 * 1024 };

/**
 * In a burst the young generation grows to 128 MB. That saves a tenth of the CPU where many
 * requests are in flight, which each collection copies, and nothing elsewhere. So beyond
 * `newSpaceBytesMax` it doubles only when collections take too long, once per tick. Returns a
 * function that ends this.
 */
export function growWhenHindered({ tickMs, collectingMs, newSpaceBytesMax } = growth): () => void {
  let collectedMs = 0;
  /** The young generation may grow while it is below this size. */
  let limit = newSpaceBytesMax;
  const observer = new PerformanceObserver((list) => {
    // For this entry type Node reports more than its types declare.
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

/** `usedShare`: a server whose event loop is busy for less than this share is idle. */
const usual = { tickMs: 10_000, usedShare: 0.05, newSpaceBytesMax: 16 * 1024 * 1024 };

/**
 * Under load the young generation grows to 128 MB. V8 returns memory some time after a full
 * collection, without stopping the process. But an idle server makes no garbage, so nothing is
 * collected and everything is kept. There may be a server for each of sixty disks.
 */
export function giveBackAtRest({ tickMs, usedShare, newSpaceBytesMax } = usual): NodeJS.Timeout {
  let before = performance.eventLoopUtilization();
  /** Size at the last full collection: if it has not changed, that collection freed nothing. */
  let collectedBytes = 0;
  return setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    const young = newSpaceBytes();
    if (utilization >= usedShare || young <= newSpaceBytesMax || young === collectedBytes) return;
    collectGarbage('major');
    collectedBytes = young;
  }, tickMs).unref();
}

/** Size of the young generation, used or not. */
export function newSpaceBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young?.space_size ?? 0;
}
