// Other folders for a ring's files: the list changes by the same compare-and-swap as the head.
import { CodedError } from '@ringwright/base/coded-error';
import { publishHead } from './shared/publish-head.ts';
import { requireStorePaths } from './shared/store-file.ts';
import { type Author, writeRing } from './write-ring.ts';

/**
 * A store that joins has caught up before it is one. Returns the stores before. Throws USAGE,
 * HEAD_MOVED, RING_STORES_TOO_FEW and what writeRing throws; then they are what they were.
 */
export async function changeRingStores(
  place: { readonly rings: string; readonly ring: string },
  author: Author,
  stores: readonly string[],
): Promise<readonly string[]> {
  requireStorePaths(stores);
  return writeRing(place, author, async ({ folder, log, shared }) => {
    if (shared === null || shared.record === null) {
      throw new CodedError('USAGE', `${place.ring} has no head in a store`, {
        hint: '--store etcd://HOST:PORT,… --ring-stores DIR,DIR,DIR, then commit',
      });
    }
    await publishHead(folder, shared, { log, changed: [], stores });
    return shared.record.stores;
  });
}
