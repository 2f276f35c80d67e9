// Command line of ring-server, made from the table of server options.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { trashHoursMax } from '@ringwright/base/limits-copies';
import { defaultPort } from '@ringwright/base/server-address';
import { parseSize } from '@ringwright/base/size-text';
import { usageSentence } from '@ringwright/base/usage-sentence';
import { type StoreAccess, storeAccessOf } from '@ringwright/head-store/store-access';
import { type ServerOptions, serverOptionsSchema } from '@ringwright/server/options';
import yargs from 'yargs';

const { data, mountCheck, device } = serverOptionsSchema.shape;

const repeated = { type: 'string', array: true, default: [], requiresArg: true } as const;

const deviceOptions = {
  data: { type: 'string', requiresArg: true, demandOption: true, describe: data.description },
  'mount-check': { type: 'boolean', default: false, describe: mountCheck.description },
  device: { type: 'string', requiresArg: true, describe: device.description },
} as const;

const { listen, advertise, allowHost } = serverOptionsSchema.shape;

const addressOptions = {
  listen: {
    type: 'string',
    requiresArg: true,
    default: `127.0.0.1:${defaultPort}`,
    describe: listen.description,
  },
  advertise: { type: 'string', requiresArg: true, describe: advertise.description },
  'allow-host': { ...repeated, describe: allowHost.description },
} as const;

const { redisPort, redisKeyspace, redisConsistency } = serverOptionsSchema.shape;

const redisOptions = {
  'redis-port': { type: 'number', requiresArg: true, describe: redisPort.description },
  'redis-keyspace': { type: 'string', requiresArg: true, describe: redisKeyspace.description },
  'redis-consistency': {
    type: 'string',
    requiresArg: true,
    default: 'quorum',
    choices: redisConsistency.unwrap().options,
    describe: redisConsistency.description,
  },
} as const;

const { rings, store, ring, trust } = serverOptionsSchema.shape;

const ringOptions = {
  rings: { type: 'string', requiresArg: true, describe: rings.description },
  store: { type: 'string', requiresArg: true, describe: store.description },
  ring: { ...repeated, describe: ring.description },
  trust: { ...repeated, describe: trust.description },
} as const;

const storeOptions = {
  'store-ca': {
    type: 'string',
    requiresArg: true,
    describe: "certificate of the store's authority",
  },
  'store-cert': { type: 'string', requiresArg: true, describe: 'certificate to show to the store' },
  'store-key': { type: 'string', requiresArg: true, describe: 'the key of that certificate' },
  'store-password-file': { type: 'string', requiresArg: true, describe: 'password of its USER' },
} as const;

const usage = `$0 --data DIR --listen IP:PORT
$0 check DIR [--json]
$0 --version

Serves the partitions that rings give to one device; check audits its data while it does not run.`;

/** Throws USAGE with what is wrong; prints help and ends the process for --help. */
export async function parseOptions(argv: readonly string[]): Promise<ServerOptions> {
  const fields = serverOptionsSchema.shape;
  const parsed = await yargs([...argv])
    .scriptName('ring-server')
    .usage(usage)
    .options(deviceOptions)
    .options(addressOptions)
    .options(ringOptions)
    .options(storeOptions)
    .options(redisOptions)
    .option('copy-rate', {
      type: 'string',
      requiresArg: true,
      describe: fields.copyRate.description,
    })
    .option('trash-hours', {
      type: 'number',
      requiresArg: true,
      default: trashHoursMax,
      describe: fields.trashHours.description,
    })
    .option('trash-bytes', {
      type: 'string',
      requiresArg: true,
      describe: fields.trashBytes.description,
    })
    .option('log-level', {
      type: 'string',
      requiresArg: true,
      default: 'info',
      choices: ['silent', 'error', 'warn', 'info', 'debug'],
      describe: fields.logLevel.description,
    })
    .example('$0 --data /srv/sdb --listen 10.0.0.1:6200 --device sdb', 'one device of a server')
    .example('$0 --data /srv/sdb --mount-check', 'ends with 4 while its disk is not mounted')
    .example('$0 inspect /srv/sdb cities 7', 'records of a partition, and its newest keys')
    .example('$0 --data /srv/sdb --trust rings/trust.json', 'takes only rings signed by its keys')
    .strict()
    .version(false)
    .fail((message: string | null, error: Error | null | undefined) => {
      if (error !== null && error !== undefined && error.name !== 'YError') throw error;
      throw usageError(usageSentence(message ?? error?.message ?? 'wrong usage'));
    })
    .parseAsync();
  const names = Object.keys(fields);
  const options = Object.fromEntries(
    Object.entries({ ...parsed, ...sizesOf(parsed), storeAccess: accessOf(parsed) }).filter(
      ([name]) => names.includes(name),
    ),
  );
  const given = serverOptionsSchema.safeParse(options);
  if (given.success) return given.data;
  throw refused(must(given.error.issues[0], 'what is refused has an issue'), parsed);
}

/** Options that are sizes, in bytes. Throws USAGE. */
function sizesOf(parsed: Readonly<Record<string, unknown>>): Record<string, number> {
  const found = ['copyRate', 'trashBytes'].flatMap((name) => {
    const written = parsed[name];
    if (written === undefined) return [];
    const bytes = typeof written === 'string' ? parseSize(written) : null;
    if (bytes === null) throw refusal(name, written, 'wanted a size, such as 50MB, 1GiB or 800000');
    return [[name, Math.round(bytes)] as const];
  });
  return Object.fromEntries(found);
}

type Issue = NonNullable<
  ReturnType<typeof serverOptionsSchema.safeParse>['error']
>['issues'][number];

/** By the name and with the value that was typed, in a sentence. */
function refused(issue: Issue, parsed: Readonly<Record<string, unknown>>): CodedError {
  const [name, index] = issue.path;
  const value = parsed[String(name)];
  const typed = Array.isArray(value) && typeof index === 'number' ? value[index] : value;
  return refusal(String(name), typed, sentenceOf(issue));
}

/** The schema's own sentences are kept; those of the validator are said anew. */
function sentenceOf(issue: Issue): string {
  const isOwn = /^(wanted|needs|is|has) /.test(issue.message);
  if (isOwn) return issue.message;
  if (issue.code === 'too_small')
    return `wanted ${issue.origin === 'string' ? 'a text' : `${issue.minimum} or more`}`;
  if (issue.code === 'too_big') return `wanted ${issue.maximum} at most`;
  return issue.code === 'invalid_type' ? `wanted a ${issue.expected}` : issue.message;
}

function refusal(name: string, typed: unknown, sentence: string): CodedError {
  const option = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return usageError(`--${option} ${String(typed)}: ${sentence}`);
}

function usageError(message: string): CodedError {
  return new CodedError('USAGE', message, { hint: 'ring-server --help' });
}

function accessOf(parsed: Readonly<Record<string, unknown>>): StoreAccess {
  const option = (name: string): string | undefined => {
    const value = parsed[name];
    return typeof value === 'string' ? value : undefined;
  };
  return storeAccessOf(option, process.env);
}
