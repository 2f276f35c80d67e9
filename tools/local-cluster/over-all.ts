// Work on every record, many at once, with a bar of how far it is.
import { inWaves } from '@ringwright/base/in-waves';
import type { Entry } from './cities.ts';
import type { Ledger } from './ledger.ts';
import { progressBar } from './progress-bar.ts';

/** Records of one request. */
const BATCH_RECORDS = 250;
const BATCHES_AT_ONCE = 6;

/** `work` gets some records, from number `first` on. Resolves with the seconds that all took. */
export async function overAll(
  label: string,
  { entries }: Ledger,
  work: (first: number, records: readonly Entry[]) => Promise<void>,
): Promise<number> {
  const started = performance.now();
  const bar = progressBar(label, entries.length);
  let done = 0;
  try {
    const firsts = Array.from(
      { length: Math.ceil(entries.length / BATCH_RECORDS) },
      (_, batch) => batch * BATCH_RECORDS,
    );
    await inWaves(firsts, BATCHES_AT_ONCE, async (first) => {
      const records = entries.slice(first, first + BATCH_RECORDS);
      await work(first, records);
      done += records.length;
      bar.show(done);
    });
  } finally {
    bar.end();
  }
  return (performance.now() - started) / 1000;
}
