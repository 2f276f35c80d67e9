// bench:move, a device joins three others under a share of their maximum load.
import { type Aim, type Comparison, comparison } from '../measure/comparison.ts';
import { startCluster } from '../peers/ring-cluster.ts';
import type { MoveSection } from './move-section.ts';
import { commitJoin, fillRecords, type Moved } from './moved-cluster.ts';
import { rollOutUnderLoad, type UnderLoad } from './under-load.ts';

const section = 'join';
const partitions = 256;

interface Joined extends UnderLoad {
  readonly receivedBytes: number;
}

export async function joinSection(settings: MoveSection): Promise<Comparison[]> {
  const { sizes, tell } = settings;
  await using cluster = await startCluster(settings, { servers: 3, partitions });
  const mib = 2 * sizes.mib;
  tell(`${mib} MiB are written`);
  const keys = await fillRecords(cluster.addresses, { mib, valueBytes: sizes.value });
  const loaded = await rollOutUnderLoad(settings, cluster, {
    what: 'a device joins',
    keys,
    commit: () => commitJoin(cluster),
  });
  const receivedBytes = await receivedBytesOf(cluster.addresses.at(-1) ?? '');
  return rowsOf({ ...loaded, receivedBytes }, mib);
}

/** Returns the bytes of partition files that reached the joiner, used or not. */
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
  const p99Before = { name: 'before', figure: before.p99Ms };
  const usualP99Before = { name: 'before', figure: before.usualP99Ms };
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
    row('p99 of the foreground', 'ms', {
      figure: during.p99Ms,
      beside: p99Before,
      aim: { atMost: 2 },
    }),
    row('p99 of the median second', 'ms', { figure: during.usualP99Ms, beside: usualP99Before }),
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
