// Partition files that cannot be used make room for new ones, which refill from the other holders.
import { CodedError } from '@ringwright/base/coded-error';
import { damagedPercentMax } from '@ringwright/base/limits';
import type { Store } from '@ringwright/partition/store';
import { dutyOf } from '@ringwright/ring/duty-of';
import type { ActiveRing } from './active-ring.ts';

/**
 * Moves damaged files of partitions that other devices hold too to the trash, and begins them anew
 * as filling. Resolves with these partitions. Throws PARTITION_DAMAGED, and touches nothing, when
 * so many are damaged that the files are hardly to blame.
 */
export async function replaceDamaged(store: Store, active: ActiveRing): Promise<number[]> {
  const { ring, self } = active;
  if (self === null) return [];
  const { keyspace } = ring;
  const damaged = damagedOf(store, keyspace);
  const replaceable = [...damaged].filter((partition) => {
    if (partition >= ring.partitions) return false;
    const { kind, pushTo } = dutyOf(ring, partition, self);
    return kind !== 'UNLOAD' && pushTo.length > 0;
  });
  const files = damaged.size + store.list().filter((one) => one.keyspace === keyspace).length;
  if (replaceable.length > Math.max(1, (files * damagedPercentMax) / 100)) {
    const message = `${replaceable.length} of ${files} files of '${keyspace}' are damaged`;
    const hint = 'check the disk and the memory of this machine; drop its files by hand if need be';
    throw new CodedError('PARTITION_DAMAGED', message, { hint });
  }
  for (const partition of replaceable) {
    await store.drop(keyspace, partition);
    await store.create(keyspace, partition, 'filling');
  }
  return replaceable;
}

/** Partitions of a keyspace whose files here cannot be used. */
export function damagedOf(store: Store, keyspace: string): ReadonlySet<number> {
  const damaged = store.damaged().filter((one) => one.keyspace === keyspace);
  return new Set(damaged.map(({ partition }) => partition));
}
