// Loads every record of the demonstration, and at the end reads each back and compares it with what
// was acknowledged.
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import type { Client } from '@ringwright/client/client';
import type { Entry } from './cities.ts';
import type { Ledger } from './ledger.ts';
import { progressBar } from './progress-bar.ts';
import { describe, judgeRecord } from './traffic.ts';
import { tryUntil } from './try-until.ts';

interface ReadBack {
  readonly seconds: number;
  /** One sentence for each wrong record. */
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

/** Resolves, once every record has been acknowledged, to the seconds it took. */
export function loadRecords(client: Client, ledger: Ledger): Promise<number> {
  return overAll('loading  ', ledger, async (index, { key, value }) => {
    const { isUnsure } = await tryUntil(() => client.put(key, value));
    if (isUnsure) ledger.unsure[index] = 1;
  });
}

/** Requests made in one turn of the event loop are sent together by the client. */
const RECORDS_AT_ONCE = 512;

/** Calls `work` with each record and its number. Resolves to the seconds for all of them. */
async function overAll(
  label: string,
  { entries }: Ledger,
  work: (index: number, entry: Entry) => Promise<void>,
): Promise<number> {
  const started = performance.now();
  const bar = progressBar(label, entries.length);
  let done = 0;
  try {
    await mapConcurrent([...entries.entries()], RECORDS_AT_ONCE, async ([index, entry]) => {
      await work(index, entry);
      done += 1;
      bar.show(done);
    });
  } finally {
    bar.end();
  }
  return (performance.now() - started) / 1000;
}
