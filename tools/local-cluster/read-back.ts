// Act five: every record is read back and compared with what was acknowledged.
import type { KeyspaceClient } from './keyspace-client.ts';
import type { Ledger } from './ledger.ts';
import { overAll } from './over-all.ts';
import { describe, judgeOutcome } from './traffic.ts';

export interface ReadBack {
  readonly seconds: number;
  /** One sentence for each record that is not what it has to be. */
  readonly wrong: readonly string[];
}

export async function readBack(client: KeyspaceClient, ledger: Ledger): Promise<ReadBack> {
  const wrong: string[] = [];
  const seconds = await overAll('comparing', ledger, async (first, records) => {
    const found = await client.getAll(records.map(({ key }) => key));
    for (const [index, outcome] of found.entries()) {
      const verdict = judgeOutcome(ledger, first + index, outcome);
      if (verdict !== 'right') wrong.push(describe(ledger, first + index, verdict));
    }
  });
  return { seconds, wrong };
}
