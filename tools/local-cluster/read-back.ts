// Act five: every record is read back and compared with what was acknowledged.
import type { Client } from '@ringwright/client/client';
import type { Ledger } from './ledger.ts';
import { overAll } from './over-all.ts';
import { describe, judgeRecord } from './traffic.ts';
import { tryUntil } from './try-until.ts';

export interface ReadBack {
  readonly seconds: number;
  /** One sentence for each record that is not what it has to be. */
  readonly wrong: readonly string[];
}

export async function readBack(client: Client, ledger: Ledger): Promise<ReadBack> {
  const wrong: string[] = [];
  const seconds = await overAll('comparing', ledger, async (index, { key }) => {
    const { answer: record } = await tryUntil(() => client.get(key));
    const verdict = judgeRecord(ledger, index, { record });
    if (verdict !== 'right') wrong.push(describe(ledger, index, verdict));
  });
  return { seconds, wrong };
}
