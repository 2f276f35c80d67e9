// The same load on two of our own clusters, in turn.
import { runLoad } from '../load/load-run.ts';
import { type Comparison, comparison } from '../measure/comparison.ts';
import { inTurn } from '../measure/in-turn.ts';
import { median } from '../measure/median.ts';
import { keyspace, type RingCluster, startCluster } from '../peers/ring-cluster.ts';
import type { StoreSection } from './store-section.ts';

const inFlight = 64;
const valueBytes = 100;

interface Pair {
  readonly section: string;
  readonly what: (op: string) => string;
  readonly clusters: readonly [measured: RingCluster, beside: RingCluster];
  /** Name of the second cluster. */
  readonly name: string;
}

async function besideCluster(
  { sizes: { seconds, rounds, keys }, tell }: Pick<StoreSection, 'sizes' | 'tell'>,
  { section, what, clusters, name }: Pair,
): Promise<Comparison[]> {
  const load = { kind: 'client', seconds, inFlight, keys, valueBytes } as const;
  for (const { addresses } of clusters) await runLoad({ ...load, addresses, op: 'fill', seed: 0 });
  const rows: Comparison[] = [];
  for (const op of ['put', 'get'] as const) {
    tell(op);
    const [measured = [], other = []] = await inTurn(clusters, rounds, ({ addresses }, seed) =>
      runLoad({ ...load, addresses, op, seed }),
    );
    const [figure = 0, beside = 0] = [measured, other].map((figures) =>
      median(figures.map(({ perSecond }) => perSecond)),
    );
    const fields = {
      section,
      what: what(op),
      unit: '/s',
      figure,
      beside: { name, figure: beside },
    };
    rows.push(comparison({ ...fields, aim: { atLeast: 0.8 } }));
  }
  return rows;
}

const [many, few] = [1_024, 64];

export async function partitionsSection(settings: StoreSection): Promise<Comparison[]> {
  const start = (partitions: number): Promise<RingCluster> =>
    startCluster(settings, { name: `${partitions}`, servers: 1, partitions });
  await using measured = await start(many);
  await using beside = await start(few);
  return await besideCluster(settings, {
    section: 'partitions',
    what: (op) => `${op} with ${many} partitions`,
    clusters: [measured, beside],
    name: `with ${few}`,
  });
}

export async function tlsSection(settings: StoreSection): Promise<Comparison[]> {
  const shape = { servers: 3, partitions: 64 };
  await using plain = await startCluster(settings, { ...shape, name: 'plain' });
  await using secure = await startCluster(settings, { ...shape, name: 'tls' });
  await secure.builder('set-device', keyspace, 'all', '--ask-key');
  await secure.builder('commit', keyspace, '-m', 'keys');
  await secure.builder('push', keyspace);
  return await besideCluster(settings, {
    section: 'tls',
    what: (op) => `${op}s with TLS, 64 at once, 100 bytes`,
    clusters: [secure, plain],
    name: 'without TLS',
  });
}
