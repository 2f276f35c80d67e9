// Brings a working copy to the head of record, before anything is asked of it or staged in it.
import { cloneRing } from './shared/pull-head.ts';
import { readStoreFile } from './shared/store-file.ts';
import { type Author, writeRing } from './write-ring.ts';

/**
 * Does nothing in a folder without a store. Throws RING_UNKNOWN, LOCK_HELD, STAGED_ON_OLD_HEAD when
 * it has caught up and its staged changes were made for an older head, and what pullHead throws.
 */
export async function catchUp(
  place: { readonly rings: string; readonly ring: string },
  author: Author,
): Promise<void> {
  if ((await readStoreFile(place.rings)) === null) return;
  if (await cloneRing(place, author)) return;
  await writeRing(place, author, () => Promise.resolve());
}
