// bench:move, moves half the records of one device to a second one: whole files, beside Redis
// Cluster, which moves key by key. Also with increasing numbers of partitions for the same bytes.
import path from 'node:path';
import { keyBytes } from '../load/key-of.ts';
import { type Comparison, comparison, withoutPeer } from '../measure/comparison.ts';
import { reshardHalf } from '../peers/redis-cluster.ts';
import { startCluster } from '../peers/ring-cluster.ts';
import type { MoveSection } from './move-section.ts';
import { fillRecords, join, type Moved } from './moved-cluster.ts';

const partitionsBesideRedis = 256;
const grownPartitions = [64, 256, 1_024, 4_096] as const;

interface HalfMoved extends Moved {
  readonly keys: number;
}

/** Rates count bytes of keys and values, so that neither side's file format matters. */
export async function reshardSection(settings: MoveSection): Promise<Comparison[]> {
  const { folder, sizes, tell } = settings;
  tell('whole partitions');
  const moved = await moveHalf(settings, partitionsBesideRedis);
  const recordBytes = (moved.keys / 2) * (sizes.value + keyBytes);
  const rate = recordBytes / 1e6 / moved.copySeconds;
  tell('key by key, redis-cli --cluster reshard');
  const redis = await reshardHalf(path.join(folder, 'redis-cluster'), {
    keys: moved.keys,
    valueBytes: sizes.value,
  });
  const fields = {
    section: 'reshard',
    what: `half of ${moved.keys.toLocaleString('en')} records of ${sizes.value} bytes`,
    unit: 'MB/s of records',
    figure: rate,
    aim: { atLeast: 10 },
  };
  if (redis === null) return [withoutPeer(fields, 'redis-server')];
  const figure = redis.bytes / 1e6 / redis.seconds;
  return [comparison({ ...fields, beside: { name: 'Redis Cluster, reshard', figure } })];
}

export async function growthSection(settings: MoveSection): Promise<Comparison[]> {
  const rows: Comparison[] = [];
  let first = 0;
  for (const partitions of grownPartitions) {
    settings.tell(`${partitions} partitions`);
    const { bytes, keys, copySeconds, rolloutSeconds } = await moveHalf(settings, partitions);
    const rate = ((keys / 2) * (settings.sizes.value + keyBytes)) / 1e6 / copySeconds;
    if (first === 0) first = rate;
    const beside = { name: `with ${grownPartitions[0]}`, figure: first };
    const what = `the same records in ${partitions} partitions, half move`;
    const note = `${(bytes / 1e6).toFixed(0)} MB of files; rollout ${rolloutSeconds.toFixed(1)} s`;
    const fields = { section: 'growth', what, unit: 'MB/s of records', figure: rate };
    rows.push(comparison({ ...fields, beside, note }));
  }
  return rows;
}

/** A second device joins one with a quarter of the requested MiB, and takes over half of it. */
async function moveHalf(settings: MoveSection, partitions: number): Promise<HalfMoved> {
  const { sizes } = settings;
  const shape = { name: `${partitions}`, servers: 1, partitions };
  await using cluster = await startCluster(settings, shape);
  const size = { mib: sizes.mib / 4, valueBytes: sizes.value };
  const keys = await fillRecords(cluster.addresses, size);
  return { ...(await join(cluster)), keys };
}
