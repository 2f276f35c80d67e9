// Validates options. An unknown option would be ignored silently, and a record with `{ ttl: 5 }`
// would stay for ever. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { printable } from '@ringwright/base/printable';
import { shortened } from '@ringwright/base/shortened';
import type {
  ConnectOptions,
  PutOptions,
  ReadOptions,
  ScanOptions,
  WriteOptions,
} from './options.ts';
import { wrongType } from './wrong-type.ts';

interface Kind {
  readonly wanted: string;
  readonly fits: (content: unknown) => boolean;
}

const text: Kind = { wanted: 'a string', fits: (content) => typeof content === 'string' };
const number: Kind = { wanted: 'a number', fits: (content) => typeof content === 'number' };
const truth: Kind = { wanted: 'true or false', fits: (content) => typeof content === 'boolean' };
const texts: Kind = { wanted: 'a list of strings', fits: isTexts };
const textOrNull: Kind = {
  wanted: 'a string or null',
  fits: (content) => content === null || text.fits(content),
};
const textOrTexts: Kind = {
  wanted: 'a string or a list of strings',
  fits: (content) => text.fits(content) || isTexts(content),
};
/** PEM, which programs read from files. */
const pem: Kind = {
  wanted: 'a string or a Buffer',
  fits: (content) => text.fits(content) || content instanceof Uint8Array,
};
const pair: Kind = { wanted: '{ key, cert }', fits: isObject };
const reader: Kind = {
  wanted: 'programmer or operator',
  fits: (content) => content === 'programmer' || content === 'operator',
};
/** Validated where it is used, with an error code of its own. */
const anything: Kind = { wanted: 'anything', fits: () => true };

/** Every option of an interface: the compiler finds a missing one. */
type KindsOf<Options> = Readonly<Record<keyof Options, Kind>>;

const read: KindsOf<ReadOptions> = { consistency: anything };
const write: KindsOf<WriteOptions> = { ...read, if: text, repeatUnknown: truth };
const put: KindsOf<PutOptions> = { ...write, ttlMs: number, smearMs: number };
const scan: KindsOf<ScanOptions> = {
  ...{ ...read, prefix: anything, from: anything, to: anything, reverse: truth },
  ...{ limit: number, values: truth, partition: number, cursor: textOrNull },
};
const connect: KindsOf<ConnectOptions> = {
  ...{ ...read, keyspace: text, session: textOrNull, timeoutMs: number, token: text },
  ...{ identity: pair, ca: pem, fingerprint: textOrTexts, deviceKeys: texts, near: text },
  ...{ smearMs: number, reader },
};

/** By the call that takes them. */
const kindsByCall = {
  get: new Map(Object.entries(read)),
  delete: new Map(Object.entries(write)),
  put: new Map(Object.entries(put)),
  scan: new Map(Object.entries(scan)),
  connect: new Map(Object.entries(connect)),
};

/** Throws USAGE for an option that the call does not have, and for a value of the wrong type. */
export function checkOptions(call: keyof typeof kindsByCall, options: object): void {
  if (!isObject(options)) {
    throw wrongType(`the last argument of ${call}()`, options, {
      wanted: 'an object',
      hint: namesOf(call),
    });
  }
  for (const [name, content] of Object.entries(options)) {
    const kind = kindsByCall[call].get(name);
    if (kind === undefined) throw unknownOption(call, name);
    if (content === undefined || kind.fits(content)) continue;
    const { wanted } = kind;
    throw wrongType(`the option ${name} of ${call}()`, content, { wanted, hint: namesOf(call) });
  }
}

function unknownOption(call: keyof typeof kindsByCall, name: string): CodedError {
  const option = printable(shortened(name, NAME_CHARACTERS));
  const message = `${call}() has no option ${option}`;
  return new CodedError('USAGE', message, { hint: namesOf(call), details: { option } });
}

function namesOf(call: keyof typeof kindsByCall): string {
  return `${call}() takes ${[...kindsByCall[call].keys()].join(', ')}`;
}

/** Characters of an unknown name that a message shows. */
const NAME_CHARACTERS = 50;

export function isTexts(content: unknown): content is string[] {
  return Array.isArray(content) && content.every((item) => typeof item === 'string');
}

function isObject(content: unknown): boolean {
  return typeof content === 'object' && content !== null;
}
