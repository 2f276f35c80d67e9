// bench:move, a device joins three under a share of the load they can take.
import { setTimeout as delay } from 'node:timers/promises';
import { drawnSeconds } from '../load/drawn-seconds.ts';
import { type LoadFigures, type LoadSpec, startFixedRateLoad } from '../load/fixed-rate-run.ts';
import { type Aim, type Comparison, comparison } from '../measure/comparison.ts';
import { type RingCluster, startCluster } from '../peers/ring-cluster.ts';
import type { MoveSection } from './move-section.ts';
import { commitJoin, fillRecords, type Moved, rollOut } from './moved-cluster.ts';

const section = 'join';
const partitions = 256;
const replicas = 3;
const inFlight = 64;

interface Joined {
  readonly moved: Moved;
  readonly receivedBytes: number;
  readonly before: LoadFigures;
  readonly during: LoadFigures;
}

export async function joinSection(settings: MoveSection): Promise<Comparison[]> {
  const { folder, sizes, nodeArgs, tell } = settings;
  const shape = { folder, servers: replicas, partitions, replicas, nodeArgs };
  const cluster = await startCluster(shape);
  try {
    const mib = 2 * sizes.mib;
    tell(`${mib} MiB are written`);
    const keys = await fillRecords(cluster.addresses, { mib, valueBytes: sizes.value });
    const { addresses } = cluster;
    const spec = { addresses, inFlight, keys, valueBytes: sizes.value, seed: 1 };
    tell('as much load as is answered');
    const saturated = await saturation(spec, sizes.seconds);
    tell(`${sizes.load} % of ${Math.round(saturated)} calls a second, and a device joins`);
    const part = { ...spec, perSecond: (saturated * sizes.load) / 100 };
    const joined = await joinUnder(cluster, part, sizes.seconds);
    tell(`p99 of each second before  ${drawnSeconds(joined.before.secondsP99Ms)}`);
    tell(`p99 of each second of it   ${drawnSeconds(joined.during.secondsP99Ms)}`);
    return rowsOf(joined, mib);
  } finally {
    await cluster.stop();
  }
}

/** Calls a second, after a first spell that does not count. */
export async function saturation(
  spec: Omit<LoadSpec, 'perSecond'>,
  seconds: number,
): Promise<number> {
  const load = await startFixedRateLoad({ ...spec, perSecond: null });
  await delay(1000 * seconds);
  await load.figures();
  await delay(1000 * seconds);
  const { perSecond } = await load.figures();
  load.stop();
  return perSecond;
}

async function joinUnder(cluster: RingCluster, spec: LoadSpec, seconds: number): Promise<Joined> {
  const load = await startFixedRateLoad(spec);
  try {
    // Programs that start take a second of processor each: elsewhere, in a real cluster.
    await commitJoin(cluster);
    await delay(1000 * seconds);
    await load.figures();
    await delay(1000 * seconds);
    const before = await load.figures();
    const moved = await rollOut(cluster);
    const during = await load.figures();
    const receivedBytes = await receivedBytesOf(cluster.addresses.at(-1) ?? '');
    return { moved, receivedBytes, before, during };
  } finally {
    load.stop();
  }
}

/** Bytes of partition files that came to the joiner, whatever became of them. */
async function receivedBytesOf(joiner: string): Promise<number> {
  const metrics = await (await fetch(`http://${joiner}/metrics`)).text();
  return Number(/^ringwright_copied_bytes_total (\S+)$/m.exec(metrics)?.[1]);
}

function rowsOf(joined: Joined, mib: number): Comparison[] {
  const { moved, receivedBytes, before, during } = joined;
  const row = (what: string, unit: string, figures: Given): Comparison =>
    comparison({ section, what, unit, ...figures });
  const rate = moved.bytes / 1e6 / moved.copySeconds;
  const files = `${moved.partitions} files of ${mib} MiB`;
  const once = { name: 'each file once', figure: moved.bytes / 1e6 };
  const quiet = { name: 'before', figure: before.p99Ms };
  const usual = { name: 'before', figure: before.usualP99Ms };
  return [
    row(`${files} copied`, 'MB/s', { figure: rate, note: rolloutNote(moved) }),
    row('bytes copied', 'MB', {
      figure: receivedBytes / 1e6,
      beside: once,
      aim: { atMost: 1.05 },
    }),
    row('calls that failed', '', {
      figure: during.errors,
      aim: { atMost: 0 },
      note: during.lastError,
    }),
    row('p99 of the foreground', 'ms', { figure: during.p99Ms, beside: quiet, aim: { atMost: 2 } }),
    row('p99 of the median second', 'ms', { figure: during.usualP99Ms, beside: usual }),
    row('longest wait until a key was written', 'ms', { figure: during.longestPutMs }),
    row('longest wait until a key was read', 'ms', { figure: during.longestGetMs }),
    row('calls answered meanwhile', '/s', {
      figure: during.perSecond,
      beside: { name: 'before', figure: before.perSecond },
    }),
  ];
}

interface Given {
  readonly figure: number;
  readonly beside?: Comparison['beside'];
  readonly aim?: Aim;
  readonly note?: string;
}

function rolloutNote({ copySeconds, rolloutSeconds }: Moved): string {
  return `copies ${copySeconds.toFixed(1)} s, the whole rollout ${rolloutSeconds.toFixed(1)} s`;
}
