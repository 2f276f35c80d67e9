// Act five: every record is read back and compared with what was acknowledged.
import { inWaves } from '@ringwright/base/in-waves';
import type { KeyspaceClient } from './keyspace-client.ts';
import type { Ledger } from './ledger.ts';
import { progressBar } from './progress-bar.ts';
import { describe, readAndJudge } from './traffic.ts';

const READS_AT_ONCE = 128;

export interface ReadBack {
  readonly seconds: number;
  /** One sentence for each record that is not what it has to be. */
  readonly wrong: readonly string[];
}

export async function readBack(client: KeyspaceClient, ledger: Ledger): Promise<ReadBack> {
  const started = performance.now();
  const bar = progressBar('comparing', ledger.entries.length);
  const wrong: string[] = [];
  let done = 0;
  try {
    await inWaves([...ledger.entries.keys()], READS_AT_ONCE, async (index) => {
      const { verdict } = await readAndJudge(client, ledger, index);
      if (verdict !== 'right') wrong.push(describe(ledger, index, verdict));
      done += 1;
      bar.show(done);
    });
  } finally {
    bar.end();
  }
  return { seconds: (performance.now() - started) / 1000, wrong };
}
