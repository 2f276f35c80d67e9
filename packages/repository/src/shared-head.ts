// The head of record of one ring, with what it names: read from the head store and from a ring
// store that has caught up with it.
import { randomBytes } from 'node:crypto';
import { CodedError } from '@ringwright/base/coded-error';
import {
  type HeadRecord,
  parseRecord,
  type StoredFile,
  type TransactionFile,
} from './head-record.ts';
import type { HeadStore } from './head-store.ts';
import { openHeadStore } from './open-head-store.ts';
import { readStored, readTransaction } from './ring-store.ts';
import { readStoreFile } from './store-file.ts';

export interface SharedHead {
  readonly store: HeadStore;
  /** Null while the ring has no head there. */
  readonly record: HeadRecord | null;
  readonly revision: string | null;
  readonly content: TransactionFile | null;
  /** Where the next transaction is to be stored. */
  readonly stores: readonly string[];
  /** Name of the next transaction. */
  readonly transaction: string;
}

/**
 * Null when the head of record is the folder itself. Throws HEAD_STORE_UNREACHABLE,
 * RING_STORES_TOO_FEW, HEAD_RECORD_INVALID.
 */
export async function readSharedHead(rings: string, ring: string): Promise<SharedHead | null> {
  const given = await readStoreFile(rings);
  if (given === null) return null;
  const store = openHeadStore(given.url, given.access);
  const transaction = randomBytes(20).toString('hex');
  // A newer head may sweep the file of the one that was just read: then that one is read.
  for (let attempt = 0; ; attempt += 1) {
    const stored = await store.read(ring);
    if (stored === null) {
      const { stores } = given;
      return { store, record: null, revision: null, content: null, stores, transaction };
    }
    const record = parseRecord(stored.value);
    const content = await readContent(record);
    const { revision } = stored;
    if (content !== null) {
      return { store, record, revision, content, stores: record.stores, transaction };
    }
    if (attempt === 3) throw noneCaughtUp(record);
  }
}

/** From the first ring store that has caught up; null when there is none. */
async function readContent(record: HeadRecord): Promise<TransactionFile | null> {
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
