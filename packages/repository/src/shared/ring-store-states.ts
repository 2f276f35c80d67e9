// Which ring stores of a ring have the head, and which are behind or away.
import { readdir } from 'node:fs/promises';
import type { HeadRecord } from '@ringwright/head-store/head-record';
import { readTransaction } from '@ringwright/head-store/ring-store';
import { readSharedHead } from './shared-head.ts';

export interface RingStoreState {
  readonly store: string;
  readonly state: 'current' | 'behind' | 'away';
}

/** Null when the ring has no head in a store. Throws what readSharedHead throws. */
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
    return { store, state: content === null ? 'behind' : 'current' };
  } catch {
    return { store, state: 'away' };
  }
}
