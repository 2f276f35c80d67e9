// Act two: every record is written through the cluster.
import type { Client } from '@ringwright/client/client';
import type { Ledger } from './ledger.ts';
import { overAll } from './over-all.ts';
import { tryUntil } from './try-until.ts';

/** Resolves with the seconds it took, when every record has been acknowledged. */
export function loadRecords(client: Client, ledger: Ledger): Promise<number> {
  return overAll('loading  ', ledger, async (index, { key, value }) => {
    const { isUnsure } = await tryUntil(() => client.put(key, value));
    if (isUnsure) ledger.unsure[index] = 1;
  });
}
