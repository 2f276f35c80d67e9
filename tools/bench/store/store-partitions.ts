// bench:store, the same load on one device with 1,024 partitions and with 64.
import path from 'node:path';
import type { Comparison } from '../measure/comparison.ts';
import { type RingCluster, startCluster } from '../peers/ring-cluster.ts';
import { besideCluster } from './beside-cluster.ts';
import type { StoreSection } from './store-section.ts';

const [many, few] = [1_024, 64];

export async function partitionsSection(settings: StoreSection): Promise<Comparison[]> {
  const { folder, nodeArgs } = settings;
  const start = (partitions: number): Promise<RingCluster> => {
    const place = path.join(folder, `${partitions}`);
    return startCluster({ folder: place, servers: 1, partitions, replicas: 1, nodeArgs });
  };
  await using measured = await start(many);
  await using beside = await start(few);
  return await besideCluster(settings, {
    section: 'partitions',
    what: (op) => `${op} with ${many} partitions`,
    clusters: [measured, beside],
    name: `with ${few}`,
  });
}
