// The head of record of one ring, with what it names: read from the head store and from a ring
// store that has caught up with it.
import { randomBytes } from 'node:crypto';
import {
  type HeadRecord,
  parseRecord,
  type TransactionFile,
} from '@ringwright/head-store/head-record';
import type { HeadStore } from '@ringwright/head-store/head-store';
import { openHeadStore } from '@ringwright/head-store/open-head-store';
import { readContent, requireContent } from '@ringwright/head-store/ring-store';
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
    const isLast = attempt === 3;
    const content = await (isLast ? requireContent(record) : readContent(record));
    const { revision } = stored;
    if (content !== null) {
      return { store, record, revision, content, stores: record.stores, transaction };
    }
  }
}
