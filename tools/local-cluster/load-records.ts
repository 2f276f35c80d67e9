// Act two: every record is written through the cluster, many at once.
import { must } from '@ringwright/base/assert';
import { inWaves } from '@ringwright/base/in-waves';
import type { KeyspaceClient } from './keyspace-client.ts';
import type { Ledger } from './ledger.ts';
import { progressBar } from './progress-bar.ts';

const WRITES_AT_ONCE = 128;

/** Resolves with the seconds it took, when every record has been acknowledged. */
export async function loadRecords(client: KeyspaceClient, ledger: Ledger): Promise<number> {
  const started = performance.now();
  const bar = progressBar('loading  ', ledger.entries.length);
  let done = 0;
  try {
    await inWaves([...ledger.entries.keys()], WRITES_AT_ONCE, async (index) => {
      const entry = must(ledger.entries[index], `no record ${index}`);
      const { unanswered } = await client.put(entry.key, entry.value);
      if (unanswered > 0) ledger.unsure[index] = 1;
      done += 1;
      bar.show(done);
    });
  } finally {
    bar.end();
  }
  return (performance.now() - started) / 1000;
}
