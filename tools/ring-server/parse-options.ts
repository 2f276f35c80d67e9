// The command line of ring-server, built from the table of server options.
import { shortened } from '@ringwright/base/shortened';
import { usageSentence } from '@ringwright/base/usage-sentence';
import { storeAccessOf } from '@ringwright/head-store/store-access';
import { optionFlags, optionsOf, refusal } from '@ringwright/server/option-flags';
import type { ServerOptions } from '@ringwright/server/options';
import yargs from 'yargs';

const path = { type: 'string', requiresArg: true } as const;

/** Files of this machine; the environment may name them too. */
const storeOptions = {
  'store-ca': {
    ...path,
    describe: 'certificate of the authority that signed the one of the head store',
  },
  'store-cert': { ...path, describe: 'client certificate for the head store' },
  'store-key': { ...path, describe: 'private key of that client certificate' },
  'store-password-file': { ...path, describe: 'file with the password of the USER in --store' },
} as const;

const usage = `$0 --data DIR --listen IP:PORT
$0 check DIR [--json]
$0 inspect DIR [RING [PARTITION]] [--token-file FILE] [--json]
$0 --version

Serves the partitions that rings assign to one device. check audits the data of a stopped server.`;

/** Throws USAGE with the reason; prints help and ends the process for --help. */
export async function parseOptions(argv: readonly string[]): Promise<ServerOptions> {
  requireNoWord(argv);
  const parsed: Readonly<Record<string, unknown>> = await yargs([...argv])
    .scriptName('ring-server')
    .usage(usage)
    .options({ ...optionFlags, ...storeOptions })
    .example('$0 --data /srv/sdb --listen 10.0.0.1:6200 --device sdb', 'one device of a server')
    .example('$0 --data /srv/sdb --mount-check', 'exits with 4 if its disk is not mounted')
    .example('$0 inspect /srv/sdb cities 7', 'records of a partition, and its newest keys')
    .example('$0 --data /srv/sdb --trust rings/trust.json', 'accepts only rings signed by its keys')
    .parserConfiguration({ 'parse-numbers': false, 'camel-case-expansion': false })
    .strict()
    .version(false)
    .fail((message: string | null, error: Error | null | undefined) => {
      if (error !== null && error !== undefined && error.name !== 'YError') throw error;
      throw refusal(usageSentence(message ?? error?.message ?? 'wrong usage'));
    })
    .parseAsync();
  const file = (name: string): string | undefined => {
    const value = parsed[name];
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw refusal(`--${name} needs one value`);
    return value;
  };
  return optionsOf(parsed, { storeAccess: storeAccessOf(file, process.env) });
}

/** Runs before yargs, which would complain about a missing --data. */
function requireNoWord(argv: readonly string[]): void {
  const [word = '-'] = argv;
  if (word.startsWith('-') || argv.includes('--help')) return;
  const known = 'check, inspect, or just options to start a server';
  throw refusal(`unknown word ${shortened(word)}; ring-server takes ${known}`);
}
