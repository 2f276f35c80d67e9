// Work on every record, many at once, with a bar of how far it is.
import { inWaves } from '@ringwright/base/in-waves';
import type { Entry } from './cities.ts';
import type { Ledger } from './ledger.ts';
import { progressBar } from './progress-bar.ts';

/** The client sends together what is asked for in one turn. */
const RECORDS_AT_ONCE = 512;

/** `work` gets each record with its number. Resolves with the seconds that all took. */
export async function overAll(
  label: string,
  { entries }: Ledger,
  work: (index: number, entry: Entry) => Promise<void>,
): Promise<number> {
  const started = performance.now();
  const bar = progressBar(label, entries.length);
  let done = 0;
  try {
    await inWaves([...entries.entries()], RECORDS_AT_ONCE, async ([index, entry]) => {
      await work(index, entry);
      done += 1;
      bar.show(done);
    });
  } finally {
    bar.end();
  }
  return (performance.now() - started) / 1000;
}
