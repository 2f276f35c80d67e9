// What a head of record names, read from the ring stores that have caught up with it.
import { CodedError } from '@ringwright/base/coded-error';
import type { HeadRecord, StoredFile, TransactionFile } from './head-record.ts';
import { readStored, readTransaction } from './ring-store.ts';

/** From the first ring store that has caught up; null when there is none. */
export async function readContent(record: HeadRecord): Promise<TransactionFile | null> {
  for (const store of record.stores) {
    const content = await readTransaction(store, record).catch(() => null);
    if (content !== null) return content;
  }
  return null;
}

/** Throws RING_STORES_TOO_FEW when no ring store has caught up. */
export async function requireContent(record: HeadRecord): Promise<TransactionFile> {
  const content = await readContent(record);
  if (content !== null) return content;
  throw noneCaughtUp(record);
}

/** One version's file, its digest checked. Throws RING_STORES_TOO_FEW. */
export async function readSharedFile(record: HeadRecord, file: StoredFile): Promise<Uint8Array> {
  for (const store of record.stores) {
    // Only those that have caught up with the head are asked.
    if ((await readTransaction(store, record).catch(() => null)) === null) continue;
    const bytes = await readStored(store, record.ring, file);
    if (bytes !== null) return bytes;
  }
  throw noneCaughtUp(record);
}

function noneCaughtUp({ ring, stores, sequence }: HeadRecord): CodedError {
  const message = `no ring store has transaction ${sequence} of ${ring}: ${stores.join(', ')}`;
  return new CodedError('RING_STORES_TOO_FEW', message, {
    hint: 'are they mounted? A majority of them had stored it before it became the head',
    details: { ring, stores, sequence },
  });
}
