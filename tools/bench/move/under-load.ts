// A rollout under a share of a cluster's maximum load, beside the time before it.
import { setTimeout as delay } from 'node:timers/promises';
import {
  type FixedRateFigures,
  type LoadSpec,
  startFixedRateLoad,
} from '../load/fixed-rate-run.ts';
import type { RingCluster } from '../peers/ring-cluster.ts';
import type { MoveSection } from './move-section.ts';
import { type Moved, rollOut } from './moved-cluster.ts';

const inFlight = 64;
const bars = '▁▂▃▄▅▆▇█';

export interface UnderLoad {
  readonly moved: Moved;
  readonly before: FixedRateFigures;
  readonly during: FixedRateFigures;
}

interface Change {
  readonly what: string;
  /** Number of distinct keys in the store. */
  readonly keys: number;
  readonly commit: () => Promise<void>;
}

export async function rollOutUnderLoad(
  { sizes, tell }: MoveSection,
  cluster: RingCluster,
  { what, keys, commit }: Change,
): Promise<UnderLoad> {
  const { addresses } = cluster;
  const spec = { addresses, inFlight, keys, valueBytes: sizes.value, seed: 1 };
  tell('as much load as is answered');
  const saturated = await saturation(spec, sizes.seconds);
  tell(`${sizes.load} % of ${Math.round(saturated)} calls a second, and ${what}`);
  using load = await startFixedRateLoad({ ...spec, perSecond: (saturated * sizes.load) / 100 });
  // Committed early: starting programs takes a second of processor time each, which a real cluster
  // would spend on another machine.
  await commit();
  await delay(1000 * sizes.seconds);
  await load.figures();
  await delay(1000 * sizes.seconds);
  const before = await load.figures();
  const moved = await rollOut(cluster);
  const during = await load.figures();
  tell(`p99 of each second before  ${drawn(before.secondsP99Ms)}`);
  tell(`p99 of each second of it   ${drawn(during.secondsP99Ms)}`);
  return { moved, before, during };
}

/** Returns calls per second, after a warm-up that does not count. */
async function saturation(spec: Omit<LoadSpec, 'perSecond'>, seconds: number): Promise<number> {
  using load = await startFixedRateLoad({ ...spec, perSecond: null });
  await delay(1000 * seconds);
  await load.figures();
  await delay(1000 * seconds);
  return (await load.figures()).perSecond;
}

/** Draws a bar per second: the lowest up to 4 ms, each higher one up to four times as much. */
function drawn(milliseconds: readonly number[]): string {
  const bar = (ms: number): number => Math.ceil(Math.log2(Math.max(ms, 1)) / 2) - 1;
  const drawing = milliseconds.map((ms) => bars[Math.min(Math.max(bar(ms), 0), bars.length - 1)]);
  return `${drawing.join('')} ${milliseconds.map((ms) => Math.round(ms)).join(' ')} ms`;
}
