// How V8 keeps the memory of a server.
import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { collectGarbage } from '@ringwright/partition/collect-garbage';

/**
 * A burst of requests in flight teaches V8 that what they allocate lives long, and from then on it
 * makes that in the old generation, for good and for every request: a third of the processor went
 * into collecting it. In some processes it never came to that, and they were as much faster.
 */
export function bearYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** `usedShare`: of the event loop's time, below which a server is at rest. */
const usual = { tickMs: 10_000, usedShare: 0.05, youngBytesMax: 16 * 1024 * 1024 };

/**
 * Under load the young generation grows to 128 MB. V8 gives memory back some time after it has
 * collected everything, without stopping anybody for it; but who is at rest makes no garbage, so
 * nothing is collected and all is kept. There may be a server for each of sixty disks.
 */
export function giveBackAtRest({ tickMs, usedShare, youngBytesMax } = usual): NodeJS.Timeout {
  let before = performance.eventLoopUtilization();
  /** What was there when everything was last collected: if it still is, that was no use. */
  let kept = 0;
  return setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    const young = youngBytes();
    if (utilization >= usedShare || young <= youngBytesMax || young === kept) return;
    collectGarbage('major');
    kept = young;
  }, tickMs).unref();
}

function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young?.space_size ?? 0;
}
