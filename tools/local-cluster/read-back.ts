// Act five: every record is read back and compared with what was acknowledged.
import type { KeyspaceClient } from './keyspace-client.ts';
import type { Ledger } from './ledger.ts';
import { overAll } from './over-all.ts';
import { describe, readAndJudge } from './traffic.ts';

export interface ReadBack {
  readonly seconds: number;
  /** One sentence for each record that is not what it has to be. */
  readonly wrong: readonly string[];
}

export async function readBack(client: KeyspaceClient, ledger: Ledger): Promise<ReadBack> {
  const wrong: string[] = [];
  const seconds = await overAll('comparing', ledger, async (index) => {
    const { verdict } = await readAndJudge(client, ledger, index);
    if (verdict !== 'right') wrong.push(describe(ledger, index, verdict));
  });
  return { seconds, wrong };
}
