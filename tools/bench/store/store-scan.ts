// bench:store, a scan of all records through the client package, from three servers.
import { connect } from '@ringwright/client/connect';
import { type Comparison, comparison } from '../measure/comparison.ts';
import { median } from '../measure/median.ts';
import { keyspace, startCluster } from '../peers/ring-cluster.ts';
import type { StoreSection } from './store-section.ts';

const partitions = 64;
const valueBytes = 100;
const putAtOnce = 20_000;
const targetPerSecond = 200_000;

export async function scanSection(settings: StoreSection): Promise<Comparison[]> {
  const { rounds, records } = settings.sizes;
  await using cluster = await startCluster(settings, { servers: 3, partitions });
  await using client = await connect(cluster.addresses, { keyspace });
  const value = Buffer.alloc(valueBytes, 'v');
  for (let from = 0; from < records; from += putAtOnce) {
    const length = Math.min(putAtOnce, records - from);
    const entries = Array.from({ length }, (_, at) => [`key-${from + at}`, value] as const);
    const failed = (await client.putMany(entries)).find(({ ok }) => !ok);
    if (failed !== undefined && !failed.ok) throw failed.error;
  }
  const rows: Comparison[] = [];
  for (const consistency of ['quorum', 'one'] as const) {
    settings.tell(`scan at ${consistency}`);
    const rates: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const started = performance.now();
      let found = 0;
      for await (const _ of client.scan({ consistency })) found += 1;
      if (found !== records) throw new Error(`a scan found ${found} of ${records} records`);
      rates.push((found * 1_000) / (performance.now() - started));
    }
    const what = `records scanned at ${consistency}`;
    const fields = { section: 'scan', what, unit: '/s', figure: median(rates) };
    const beside = { name: 'wanted', figure: targetPerSecond };
    rows.push(comparison({ ...fields, beside, aim: { atLeast: 1 } }));
  }
  return rows;
}
