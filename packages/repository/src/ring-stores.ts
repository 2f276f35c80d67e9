// Shows which ring stores of a ring have the head, and replaces them by the compare-and-swap that
// also moves the head.
import { readdir, rm } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import type { HeadRecord, TransactionFile } from '@ringwright/head-store/head-record';
import { damagedFiles, readTransaction } from '@ringwright/head-store/ring-store';
import { publishHead } from './shared/publish-head.ts';
import { readSharedHead } from './shared/shared-head.ts';
import { requireStorePaths } from './shared/store-file.ts';
import { type Author, writeRing } from './write-ring.ts';

/**
 * Replaces the ring stores and returns the old ones. A joining store has caught up before it
 * counts. Damaged files are stored again, also if the stores stay the same. Throws USAGE,
 * HEAD_MOVED, RING_STORES_TOO_FEW and what writeRing throws; the stores are then unchanged.
 */
export async function changeRingStores(
  location: { readonly rings: string; readonly ring: string },
  author: Author,
  stores: readonly string[],
): Promise<readonly string[]> {
  requireStorePaths(stores);
  return writeRing(location, author, async ({ folder, log, shared }) => {
    if (shared === null || shared.record === null) {
      throw new CodedError('USAGE', `${location.ring} has no head in a store`, {
        hint: '--store etcd://HOST:PORT,… --ring-stores DIR,DIR,DIR, then commit',
      });
    }
    if (shared.content !== null) await removeDamaged(stores, shared.content);
    await publishHead(folder, shared, { log, changed: [], stores });
    return shared.record.stores;
  });
}

/** Publishing then stores these files again, as it stores all that a ring store lacks. */
async function removeDamaged(stores: readonly string[], content: TransactionFile): Promise<void> {
  for (const store of stores) {
    const paths = await damagedFiles(store, content);
    for (const path of paths) await rm(path, { force: true });
  }
}

interface RingStoreState {
  readonly store: string;
  readonly state: 'current' | 'damaged' | 'behind' | 'away';
}

/** Returns null if the ring has no head in a store. Throws what readSharedHead throws. */
export async function ringStoreStates(
  rings: string,
  ring: string,
): Promise<{ readonly record: HeadRecord; readonly stores: readonly RingStoreState[] } | null> {
  const record = (await readSharedHead(rings, ring))?.record ?? null;
  if (record === null) return null;
  return { record, stores: await Promise.all(record.stores.map((one) => stateOf(one, record))) };
}

async function stateOf(store: string, record: HeadRecord): Promise<RingStoreState> {
  try {
    await readdir(store);
    const content = await readTransaction(store, record);
    if (content === null) return { store, state: 'behind' };
    const damaged = await damagedFiles(store, content);
    return { store, state: damaged.length > 0 ? 'damaged' : 'current' };
  } catch {
    return { store, state: 'away' };
  }
}
