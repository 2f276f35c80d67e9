// Replaces partition files that cannot be used by new ones, which refill from the other holders.
import { CodedError } from '@ringwright/base/coded-error';
import { damagedPercentMax } from '@ringwright/base/limits';
import type { Store } from '@ringwright/partition/store';
import { dutyOf } from '@ringwright/ring/duty-of';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type Repair, repaired } from './repair-sentence.ts';

/**
 * Rewrites a file that was deleted while open, with all its records. Moves other damaged files to
 * the trash if other devices hold their partitions too, and creates new ones as lost. Resolves to
 * the partitions that must be loaded from the start. These include rewritten files that were not
 * complete, for they lack what arrived while they were damaged. Throws PARTITION_DAMAGED, and
 * changes nothing, if so many files are damaged that the files are hardly to blame, and more than
 * an operator has `confirmed`.
 */
export async function replaceDamaged(
  store: Store,
  active: ActiveRing,
  {
    confirmed,
    onRepair,
  }: { readonly confirmed: number; readonly onRepair: (repair: Repair) => void },
): Promise<number[]> {
  const { keyspace } = active.ring;
  const { replaceable, files, refilling } = replaceableOf(store, active);
  const heldCount = heldQuarantines(store, active);
  if (heldCount > confirmed) {
    const refillingText = refilling === 0 ? '' : `, and ${refilling} more wait to be refilled`;
    const message = `${heldCount} of ${files} files of '${keyspace}' are damaged${refillingText}`;
    const command = `ring-builder trash ${keyspace} confirm`;
    const hint =
      'check the disk and the memory of this machine; if they failed only for a moment, restart ' +
      `the server, which reads the files again; ${command} lets it replace them`;
    throw new CodedError('PARTITION_DAMAGED', message, { hint });
  }
  const partitionsToLoad: number[] = [];
  for (const partition of replaceable) {
    if (await store.rewriteLost(keyspace, partition)) {
      onRepair(repaired('rewritten', { keyspace, partition }));
      if (store.info(keyspace, partition)?.state !== 'ready') partitionsToLoad.push(partition);
      continue;
    }
    await store.drop(keyspace, partition);
    await store.create(keyspace, partition, 'lost');
    partitionsToLoad.push(partition);
    onRepair(repaired('replaced', { keyspace, partition }));
  }
  return partitionsToLoad;
}

/**
 * Returns the number of damaged files that wait for an operator because there are too many; else 0.
 * Replaced files that have not refilled count too, since a scrub finds one file after the other.
 */
export function heldQuarantines(store: Store, active: ActiveRing): number {
  const { replaceable, files, refilling } = replaceableOf(store, active);
  const isTooMany = replaceable.length + refilling > Math.max(1, (files * damagedPercentMax) / 100);
  return isTooMany ? replaceable.length : 0;
}

function replaceableOf(
  store: Store,
  { ring, self }: ActiveRing,
): { readonly replaceable: readonly number[]; readonly files: number; readonly refilling: number } {
  const damaged = damagedOf(store, ring.keyspace);
  // Every status request and every pass calls this.
  if (damaged.size === 0) return { replaceable: [], files: 0, refilling: 0 };
  const usable = store.list(ring.keyspace);
  const replaceable = [...damaged].filter((partition) => {
    if (self === null || partition >= ring.partitions) return false;
    const { kind, pushTo } = dutyOf(ring, partition, self);
    return kind !== 'UNLOAD' && pushTo.length > 0;
  });
  const refilling = usable.filter(({ state }) => state === 'lost').length;
  return { replaceable, files: damaged.size + usable.length, refilling };
}

/** Returns the partitions of a keyspace whose files here cannot be used. */
export function damagedOf(store: Store, keyspace: string): ReadonlySet<number> {
  return new Set(store.damaged(keyspace).map(({ partition }) => partition));
}
