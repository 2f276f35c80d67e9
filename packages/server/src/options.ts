// Options of a server: one table with defaults and descriptions, from which flags and help are made
// (option-flags.ts). Numbers and sizes arrive as text, as they are typed.
import {
  copyRateMin,
  trashHoursAllowedMax,
  trashHoursMax,
  trashPercentMax,
} from '@ringwright/base/limits-copies';
import { allowedHostsMax } from '@ringwright/base/limits-rings';
import { defaultPort, parseAddress, portMax, serverAddress } from '@ringwright/base/server-address';
import { parseSize } from '@ringwright/base/size-text';
import { storeAccessSchema } from '@ringwright/head-store/store-access';
import { deviceNameSchema, isHost } from '@ringwright/ring/device-fields';
import { keyspaceNamePattern } from '@ringwright/ring/keyspace-name';
import { consistencyField } from '@ringwright/wire/coordination';
import { z } from 'zod';

/** A complete IP:PORT address after parsing. */
const addressField = z
  .string()
  .refine(
    (text) => parseAddress(text) !== null,
    `wanted IP:PORT, such as 10.0.0.1:6200, with a port up to ${portMax}`,
  )
  .transform(serverAddress);

function numberField<Schema extends z.ZodType<number, number>>(schema: Schema) {
  return z
    .string()
    .regex(/^-?\d+(\.\d+)?(e\d{1,3})?$/i, 'wanted a number')
    .transform(Number)
    .pipe(schema);
}

const sizeField = z.string().transform((text, context) => {
  const bytes = parseSize(text);
  if (bytes !== null) return Math.round(bytes);
  context.addIssue('wanted a size, such as 50MB, 1GiB or 800000');
  return z.NEVER;
});

const isAllowedHost = (name: string): boolean => isHost(name.replace(/^\./, ''));

/** A wildcard address, in any spelling: it cannot be what a ring names for a device. */
const wildcard = /^(0\.0\.0\.0|\[(::ffff:)?[0:.]+\]):/i;

const optionsSchema = z.strictObject({
  data: z.string().min(1).describe('data directory of this device'),
  mountCheck: z
    .boolean()
    .default(false)
    .describe('refuse to start if --data is not a mount point of its own, so its disk is missing'),
  plainV8: z
    .boolean()
    .default(false)
    .describe('use the default V8 memory settings of Node, for comparisons or troubleshooting'),
  listen: addressField
    .default(`127.0.0.1:${defaultPort}`)
    .describe('address to listen on, as in the ring'),
  advertise: addressField
    .optional()
    .describe('address in the ring, if it differs from the one to listen on'),
  replicationListen: addressField
    .optional()
    .describe(
      'second address, for other servers: the replication address in the ring, for copies and repair; partition files are sent from it too by default',
    ),
  operatorListen: addressField
    .refine((address) => !wildcard.test(address), 'wanted an address that operators can call')
    .optional()
    .describe(
      'separate address for requests that need the role operator, which --listen then refuses; needs --token-file or --client-ca',
    ),
  allowHost: z
    .array(z.string().refine(isAllowedHost, 'is not a host name, such as sd1.example or .example'))
    .max(allowedHostsMax)
    .default([])
    .describe('name by which HTTP clients may call this server, or .DOMAIN; may be repeated'),
  tls: z
    .string()
    .min(1)
    .optional()
    .describe(
      'serve only TLS: a PEM file with a key and its certificates, reloaded when it is replaced; or own, the certificate of the device itself',
    ),
  clientCa: z
    .string()
    .min(1)
    .optional()
    .describe(
      'certificates of an authority (PEM): a client certificate that it signed grants the roles in it, as a token does; clients without either are refused',
    ),
  insecureListen: z
    .boolean()
    .default(false)
    .describe(
      'listen beyond loopback without --tls, --trust and --token-file: anyone who connects may do anything',
    ),
  device: deviceNameSchema.optional().describe('device name, if several devices share an address'),
  rings: z.string().min(1).optional().describe('folder of ring folders, watched for new versions'),
  store: z
    .string()
    .min(1)
    .optional()
    .describe('etcd[s]://[USER@]HOST:PORT,…: head store, watched for new versions'),
  storeAccess: storeAccessSchema.default({}).describe('credential files for the head store'),
  ring: z
    .array(z.string().min(1))
    .default([])
    .describe('ring file, watched for changes; may be repeated'),
  redisPort: numberField(z.int().min(1).max(portMax))
    .optional()
    .describe('port of the Redis protocol, at the IP of --listen; default: none'),
  redisKeyspace: z
    .string()
    .regex(keyspaceNamePattern, 'wanted the name of a ring')
    .optional()
    .describe('ring that Redis clients use unless they SELECT another; default: the only ring'),
  redisConsistency: consistencyField
    .default('quorum')
    .describe('consistency of Redis clients unless they send RINGWRIGHT.CONSISTENCY'),
  trust: z
    .array(z.string().min(1))
    .max(16)
    .default([])
    .describe(
      'trust.json, or the id of a root: accept only rings signed by its keys; may be repeated',
    ),
  tokenFile: z
    .string()
    .min(1)
    .optional()
    .describe(
      'file with a token of role peer, sent to other servers; callers without a token are refused',
    ),
  copyRate: sizeField
    .pipe(z.int().min(copyRateMin, `wanted ${copyRateMin / 1024}KiB/s or more`))
    .optional()
    .describe(
      `limit for partition files, sent and received: 50MB/s, or bytes; ${copyRateMin / 1024}KiB/s or more; default: no limit`,
    ),
  copyListen: addressField
    .optional()
    .describe(
      'address that sends partition files to joiners, which use its port at the IP in the ring; default: any free port at the IP of --replication-listen or --listen',
    ),
  trashHours: numberField(z.number().min(0).max(trashHoursAllowedMax))
    .default(trashHoursMax)
    .describe('hours that dropped partitions are kept, if the disk has room'),
  trashBytes: sizeField
    .pipe(z.int().min(0))
    .optional()
    .describe(
      `bytes that dropped partitions may take, such as 20GB; default: ${trashPercentMax} % of the disk`,
    ),
  logLevel: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('minimum level of log lines'),
});

export const serverOptionsSchema = optionsSchema
  .refine(({ listen, advertise }) => advertise !== undefined || !wildcard.test(listen), {
    path: ['listen'],
    message: 'needs --advertise IP:PORT too: the address that rings name',
  })
  .refine(
    ({ operatorListen, tokenFile, clientCa }) => {
      return operatorListen === undefined || (tokenFile ?? clientCa) !== undefined;
    },
    {
      path: ['operatorListen'],
      message: 'needs --token-file or --client-ca too: without them everybody is an operator',
    },
  );
export type ServerOptions = z.infer<typeof serverOptionsSchema>;
