// The options of `npm start`, with defaults.
import yargs from 'yargs';

export interface Options {
  /** End after the demonstration; otherwise the cluster stays up. */
  readonly exit: boolean;
  /** Demonstrate TLS, tokens and keys instead of a ring change. */
  readonly secure: boolean;
  /** Print one JSON document on stdout; the story goes to stderr. */
  readonly json: boolean;
  readonly partitions: number;
  /** Number of records to load; null: all. */
  readonly records: number | null;
  /** Folder that is kept; null: a temporary one, removed at the end. */
  readonly data: string | null;
}

/** With fewer records, writers and readers would share only a handful. */
const RECORDS_MIN = 100;

export function parseOptions(args: readonly string[]): Options {
  const parsed = yargs([...args])
    .scriptName('npm start --')
    .usage('$0 [options]\n\nStarts a local cluster on real data and shows a ring change.')
    .option('exit', {
      type: 'boolean',
      default: false,
      describe: 'stop at the end; exit code 0 if all is well',
    })
    .option('secure', {
      type: 'boolean',
      default: false,
      describe: 'show TLS, tokens and keys, instead of a ring change',
    })
    .option('json', { type: 'boolean', default: false, describe: 'one JSON document on stdout' })
    .option('partitions', { type: 'number', default: 256, describe: 'partitions of the ring' })
    .option('records', { type: 'number', describe: 'load only this many records (default: all)' })
    .option('data', {
      type: 'string',
      describe: 'keep all files here (default: a temporary folder)',
    })
    .check(({ partitions, records }) => {
      if (!isCount(partitions))
        throw new Error(`--partitions ${partitions}: a whole number above 0`);
      if (records !== undefined && !(isCount(records) && records >= RECORDS_MIN)) {
        throw new Error(`--records ${records}: a whole number, at least ${RECORDS_MIN}`);
      }
      return true;
    })
    .strict()
    .version(false)
    .fail((message, error) => {
      throw error ?? new Error(message);
    })
    .parseSync();
  return { ...parsed, records: parsed.records ?? null, data: parsed.data ?? null };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}
