// Replaces partition files that cannot be used by new ones, which refill from the other holders.
import { CodedError } from '@ringwright/base/coded-error';
import { damagedPercentMax } from '@ringwright/base/limits';
import type { Store } from '@ringwright/partition/store';
import { dutyOf } from '@ringwright/ring/duty-of';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type Repair, repaired } from './repair-sentence.ts';

interface ReplaceRule {
  /** Number of damaged files that an operator has released although they are many. */
  readonly confirmed: number;
  /**
   * Whether a load or a takeover of the partition runs. It would take the new file for the one that
   * it began with, and call it complete. So that file is replaced later.
   */
  readonly isBusy: (partition: number) => boolean;
  readonly onRepair: (repair: Repair) => void;
}

/**
 * Rewrites a file that was deleted while open, with all its records. Moves other damaged files to
 * the trash if other devices hold their partitions too, and creates new ones as lost. Each of them
 * must be loaded from the start unless it is complete: a rewritten one lacks what arrived while it
 * was damaged. Throws PARTITION_DAMAGED, and changes nothing, if so many files are damaged that the
 * files are hardly to blame, and more than an operator has `confirmed`.
 */
export async function replaceDamaged(
  store: Store,
  active: ActiveRing,
  { confirmed, isBusy, onRepair }: ReplaceRule,
): Promise<void> {
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
  for (const partition of replaceable) {
    if (isBusy(partition)) continue;
    if (await store.rewriteLost(keyspace, partition)) {
      onRepair(repaired('rewritten', { keyspace, partition }));
      continue;
    }
    await store.drop(keyspace, partition);
    await store.create(keyspace, partition, 'lost');
    onRepair(repaired('replaced', { keyspace, partition }));
  }
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
