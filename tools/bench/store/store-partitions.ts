// bench:store, the same load on one device with 1,024 partitions and with 64.
import path from 'node:path';
import { runLoad } from '../load/load-run.ts';
import { type Comparison, comparison } from '../measure/comparison.ts';
import { median } from '../measure/median.ts';
import { type RingCluster, startCluster } from '../peers/ring-cluster.ts';
import type { StoreSection } from './store-section.ts';

const inFlight = 64;
const valueBytes = 100;
const [many, few] = [1_024, 64];

export async function partitionsSection({
  folder,
  sizes: { seconds, rounds, keys },
  tell,
  nodeArgs,
}: StoreSection): Promise<Comparison[]> {
  const started: RingCluster[] = [];
  for (const partitions of [many, few]) {
    const place = path.join(folder, `${partitions}`);
    const shape = { folder: place, servers: 1, partitions, replicas: 1, nodeArgs };
    started.push(await startCluster(shape));
  }
  const rows: Comparison[] = [];
  try {
    const load = { kind: 'client', seconds, inFlight, keys, valueBytes } as const;
    for (const { addresses } of started) await runLoad({ ...load, addresses, op: 'fill', seed: 0 });
    for (const op of ['put', 'get'] as const) {
      tell(op);
      const rates: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        for (const [index, { addresses }] of started.entries()) {
          rates[index]?.push((await runLoad({ ...load, addresses, op, seed: round })).perSecond);
        }
      }
      const beside = { name: `with ${few}`, figure: median(rates[1]) };
      const what = `${op} with ${many} partitions`;
      const given = { section: 'partitions', what, unit: '/s', figure: median(rates[0]), beside };
      rows.push(comparison({ ...given, aim: { atLeast: 0.8 } }));
    }
  } finally {
    await Promise.all(started.map((cluster) => cluster.stop()));
  }
  return rows;
}
