// bench:store, what TLS costs: servers whose keys the ring names, so that clients and servers speak
// TLS alone to them, beside servers without.
import path from 'node:path';
import type { Comparison } from '../measure/comparison.ts';
import { keyspace, startCluster } from '../peers/ring-cluster.ts';
import { besideCluster } from './beside-cluster.ts';
import type { StoreSection } from './store-section.ts';

export async function tlsSection(settings: StoreSection): Promise<Comparison[]> {
  const { folder, nodeArgs } = settings;
  const shape = { servers: 3, partitions: 64, replicas: 3, nodeArgs };
  await using plain = await startCluster({ ...shape, folder: path.join(folder, 'plain') });
  await using secure = await startCluster({ ...shape, folder: path.join(folder, 'tls') });
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
