// Reads a ring's head of record from the head store, and its transaction from a ring store that has
// caught up.
import { randomBytes } from 'node:crypto';
import {
  type HeadRecord,
  parseRecord,
  type TransactionFile,
} from '@ringwright/head-store/head-record';
import type { HeadStore } from '@ringwright/head-store/head-store';
import { openHeadStore } from '@ringwright/head-store/open-head-store';
import { readContent, requireContent } from '@ringwright/head-store/ring-store';
import type { RingLog } from '../folder/read-log.ts';
import { hasHead } from './lost-head.ts';
import { readStoreFile } from './store-file.ts';

export interface SharedHead {
  readonly store: HeadStore;
  /** Null while the ring has no head there. */
  readonly record: HeadRecord | null;
  readonly revision: string | null;
  /** Null without a record; or if only a working copy has what the record names. */
  readonly content: TransactionFile | null;
  /** The ring stores for the next transaction. */
  readonly stores: readonly string[];
  /** Name of the next transaction. */
  readonly transaction: string;
}

/**
 * Returns null if the head of record is the folder itself. With `ownLog`, the log of a working
 * copy, ring stores may lack the transaction if that log has what it committed. Throws
 * HEAD_STORE_UNREACHABLE, RING_STORES_TOO_FEW, HEAD_RECORD_INVALID.
 */
export async function readSharedHead(
  rings: string,
  ring: string,
  ownLog?: RingLog,
): Promise<SharedHead | null> {
  const storeFile = await readStoreFile(rings);
  if (storeFile === null) return null;
  const store = openHeadStore(storeFile.url, storeFile.access);
  const transaction = randomBytes(20).toString('hex');
  // A newer transaction may remove the file of the head that was just read. Then the newer head is
  // read.
  for (let attempt = 0; ; attempt += 1) {
    const stored = await store.read(ring);
    if (stored === null) {
      const { stores } = storeFile;
      return { store, record: null, revision: null, content: null, stores, transaction };
    }
    const record = parseRecord(stored.value);
    const isLast = attempt === 3;
    const isOwn = ownLog !== undefined && hasHead(ownLog, record);
    const content = await (isLast && !isOwn ? requireContent(record) : readContent(record));
    const { revision } = stored;
    if (content !== null || isLast) {
      return { store, record, revision, content, stores: record.stores, transaction };
    }
  }
}
