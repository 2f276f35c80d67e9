// Act two: every record is written through the cluster.
import type { KeyspaceClient } from './keyspace-client.ts';
import type { Ledger } from './ledger.ts';
import { overAll } from './over-all.ts';

/** Resolves with the seconds it took, when every record has been acknowledged. */
export function loadRecords(client: KeyspaceClient, ledger: Ledger): Promise<number> {
  return overAll('loading  ', ledger, async (first, records) => {
    for (const [index, { unanswered }] of (await client.putAll(records)).entries()) {
      if (unanswered > 0) ledger.unsure[first + index] = 1;
    }
  });
}
