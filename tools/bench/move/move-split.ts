// bench:move, splits partitions in place: one file with all MiB under a share of its device's
// maximum load, and 256 partitions of the same total size at once without load.
import { type Comparison, comparison } from '../measure/comparison.ts';
import { keyspace, type RingCluster, startCluster } from '../peers/ring-cluster.ts';
import type { MoveSection } from './move-section.ts';
import { fillRecords, rollOut } from './moved-cluster.ts';
import { rollOutUnderLoad, type UnderLoad } from './under-load.ts';

const section = 'split';
const partitionsDoubled = 256;

export async function splitSection(settings: MoveSection): Promise<Comparison[]> {
  return [...(await oneUnderLoad(settings)), ...(await allAtOnce(settings))];
}

async function withRecords<Result>(
  settings: MoveSection,
  partitions: number,
  run: (cluster: RingCluster, keys: number) => Promise<Result>,
): Promise<Result> {
  const { sizes } = settings;
  const shape = { name: `split-${partitions}`, servers: 1, partitions };
  await using cluster = await startCluster(settings, { ...shape, partitioner: 'hash-intervals' });
  settings.tell(`${sizes.mib} MiB are written in ${partitions} partitions`);
  const size = { mib: sizes.mib, valueBytes: sizes.value };
  return await run(cluster, await fillRecords(cluster.addresses, size));
}

function oneUnderLoad(settings: MoveSection): Promise<Comparison[]> {
  return withRecords(settings, 1, async (cluster, keys) => {
    const { builder } = cluster;
    const commit = async (): Promise<void> => {
      await builder('split', keyspace, '0');
      await builder('commit', keyspace, '-m', 'two halves');
    };
    const what = 'the file is split';
    const loaded = await rollOutUnderLoad(settings, cluster, { what, keys, commit });
    return rowsUnderLoad(loaded, settings.sizes.mib);
  });
}

function rowsUnderLoad({ moved, before, during }: UnderLoad, mib: number): Comparison[] {
  const figure = moved.bytes / 1e6 / moved.copySeconds;
  const what = `a file of ${mib} MiB in two, under load`;
  const note = `the whole rollout ${moved.rolloutSeconds.toFixed(1)} s`;
  const beside = { name: 'before', figure: before.p99Ms };
  const failed = { figure: during.errors, note: during.lastError };
  return [
    comparison({ section, what, unit: 'MB/s', figure, aim: { atLeast: 60 }, note }),
    comparison({ section, what: 'calls that failed', unit: '', ...failed, aim: { atMost: 0 } }),
    comparison({
      ...{ section, what: 'p99 of the foreground', unit: 'ms' },
      ...{ figure: during.p99Ms, beside, aim: { atMost: 3 } },
    }),
  ];
}

function allAtOnce(settings: MoveSection): Promise<Comparison[]> {
  const { mib } = settings.sizes;
  return withRecords(settings, partitionsDoubled, async (cluster) => {
    const { builder } = cluster;
    await builder('set', keyspace, '--partition-power', `${Math.log2(partitionsDoubled) + 1}`);
    await builder('commit', keyspace, '-m', 'twice as many');
    settings.tell('all partitions are split');
    const { rolloutSeconds: figure, copySeconds } = await rollOut(cluster);
    const what = `${partitionsDoubled} partitions of ${mib} MiB in all become twice as many`;
    const note = `copies ${copySeconds.toFixed(1)} s`;
    return [comparison({ section, what, unit: 's', figure, aim: { atMost: 20 }, note })];
  });
}
