// The options of `npm run torture`, with defaults.
import yargs from 'yargs';

export interface Options {
  readonly seconds: number;
  readonly seed: number;
  /** Letters of nemeses. */
  readonly nemesis: readonly string[];
  readonly servers: number;
  readonly secure: boolean;
  /** Name of a bug to insert; null: none. */
  readonly bug: string | null;
  /** Whether to try every bug. */
  readonly bugs: boolean;
  /** Whether to run the faults that reveal the bug, without the bug. */
  readonly sound: boolean;
  readonly json: boolean;
  readonly keep: boolean;
}

const SEED_MAX = 2 ** 31;

/** Throws an Error whose message says what is wrong. */
export function parseOptions(
  args: readonly string[],
  {
    letters,
    bugNames,
  }: { readonly letters: readonly string[]; readonly bugNames: readonly string[] },
): Options {
  const parsed = yargs([...args])
    .scriptName('npm run torture --')
    .usage(
      '$0 [options]\n\nReal servers under faults and load; then what they promised is checked.',
    )
    .option('minutes', { type: 'number', default: 2, describe: 'how long faults go on, at most' })
    .option('seed', { type: 'number', describe: 'replays a run (default: drawn)' })
    .option('nemesis', {
      type: 'string',
      default: letters.join(','),
      describe:
        'kinds of faults, all at once: k kill, s pause, p network, c clock, d disk, rings, a archives',
    })
    .option('servers', { type: 'number', default: 0, describe: '3 to 5 (default: by the seed)' })
    .option('secure', {
      type: 'boolean',
      default: false,
      describe: 'TLS, signed rings and tokens everywhere; certificates and tokens change meanwhile',
    })
    .option('bug', {
      type: 'string',
      choices: bugNames,
      describe: 'put in this seeded bug, under the faults that bring it to light',
    })
    .option('bugs', { type: 'boolean', default: false, describe: 'try every seeded bug' })
    .option('sound', {
      type: 'boolean',
      default: false,
      describe: 'with --bug: its faults without the bug, which must be clean',
    })
    .option('keep', { type: 'boolean', default: false, describe: 'keep data and logs' })
    .option('json', { type: 'boolean', default: false, describe: 'one JSON document on stdout' })
    .example('$0 --minutes 20 --seed 7', 'twenty minutes of every fault there is')
    .example('$0 --bug ack-before-sync', 'must end with violations, and with 1')
    .check(({ minutes, seed, servers, bug }) => {
      if (Array.isArray(bug)) throw new Error(`--bug ${bug.join(' and ')}: one, or --bugs for all`);
      if (!(minutes > 0)) throw new Error(`--minutes ${minutes}: a number above 0`);
      if (seed !== undefined && !(Number.isSafeInteger(seed) && seed >= 0 && seed < SEED_MAX)) {
        throw new Error(`--seed ${seed}: a whole number below ${SEED_MAX}`);
      }
      if (![0, 3, 4, 5].includes(servers)) throw new Error(`--servers ${servers}: 3, 4 or 5`);
      return true;
    })
    .strict()
    .version(false)
    .fail((message, error) => {
      throw error ?? new Error(message);
    })
    .parseSync();
  const nemesis = parsed.nemesis.split(',').filter((letter) => letter !== '');
  const unknown = nemesis.find((letter) => !letters.includes(letter));
  if (unknown !== undefined) {
    throw new Error(`--nemesis ${unknown}: there are ${letters.join(', ')}`);
  }
  const { seed = Date.now() % SEED_MAX, minutes, bug = null, ...rest } = parsed;
  const { bugs, secure, sound, json, keep } = rest;
  // Scenarios of bugs start with three servers and add the ones they need.
  const usual = bug === null ? 3 + (seed % 3) : 3;
  const servers = parsed.servers === 0 ? usual : parsed.servers;
  const seconds = Math.max(1, Math.round(60 * minutes));
  return { seconds, seed, nemesis, servers, secure, bug, bugs, sound, json, keep };
}
