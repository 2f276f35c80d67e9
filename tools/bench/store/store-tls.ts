// bench:store, what TLS costs: servers whose keys the ring names, so that clients and servers speak
// TLS alone to them, beside servers without; both sides take turns.
import { type Load, runLoad } from '../load/load-run.ts';
import { type Comparison, comparison } from '../measure/comparison.ts';
import { median } from '../measure/median.ts';
import { keyspace, type RingCluster, startCluster } from '../peers/ring-cluster.ts';
import type { StoreSection } from './store-section.ts';

const inFlight = 64;
const valueBytes = 100;

export async function tlsSection(settings: StoreSection): Promise<Comparison[]> {
  const { folder, nodeArgs, tell, sizes } = settings;
  const { seconds, rounds, keys } = sizes;
  const shape = { servers: 3, partitions: 64, replicas: 3, nodeArgs };
  await using started = new AsyncDisposableStack();
  const begin = async (name: string): Promise<RingCluster> => {
    const cluster = await startCluster({ ...shape, folder: `${folder}/${name}` });
    started.defer(cluster.stop);
    return cluster;
  };
  const [plain, secure] = [await begin('plain'), await begin('tls')];
  await secure.builder('set-device', keyspace, 'all', '--ask-key');
  await secure.builder('commit', keyspace, '-m', 'keys');
  await secure.builder('push', keyspace);
  const rateOf = async ({ addresses }: RingCluster, op: Load['op'], seed: number) => {
    const load = { kind: 'client', addresses, op, seconds, inFlight, keys, valueBytes } as const;
    return (await runLoad({ ...load, seed })).perSecond;
  };
  for (const cluster of [plain, secure]) await rateOf(cluster, 'fill', 0);
  const rows: Comparison[] = [];
  for (const op of ['put', 'get'] as const) {
    const rates = { plain: [] as number[], secure: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      tell(`${op}s, round ${round + 1} of ${rounds}`);
      rates.plain.push(await rateOf(plain, op, round));
      rates.secure.push(await rateOf(secure, op, round));
    }
    const beside = { name: 'without TLS', figure: median(rates.plain) };
    const figure = median(rates.secure);
    const what = `${op}s with TLS, ${inFlight} at once, ${valueBytes} bytes`;
    const aim = { atLeast: 0.8 };
    rows.push(comparison({ section: 'tls', what, unit: '/s', figure, beside, aim }));
  }
  return rows;
}
