// ring-builder key: manages signing keys, and the root of trust that says which keys count.
import { printTable } from '@ringwright/base/print-table';
import { exists } from '@ringwright/node/missing-file';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import {
  generateKey,
  listKeys,
  protectKey,
  requireKeyName,
  requirePassphrase,
} from '@ringwright/repository/signing-key';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { TrustRole } from '@ringwright/ring/trust/trust-root';
import { isAuthorityKey } from '../../certs/authority-name.ts';
import { type Arguments, usage } from '../../cli/arguments.ts';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  listOption,
  textOption,
} from '../../cli/command.ts';
import { beginSigning, keyNameOf, requireElsewhere } from '../../versions/begin-signing.ts';
import { revokeAnswer, trustAnswer } from './key-trust.ts';
import { expiryAfter } from './root-change.ts';

export const command: Command = {
  positionals: {
    action: {
      describe: 'generate, list, protect, trust or revoke',
      choices: ['generate', 'list', 'protect', 'trust', 'revoke'],
    },
    names: { describe: 'generate: name of the new key; protect: names; revoke: names or ids' },
  },
  options: {
    role: textOption('generate: what the key is for (default ring)', {
      choices: ['ring', 'root', 'beacon'],
    }),
    cluster: textOption('generate: cluster of the first root (default: that of the rings here)'),
    add: listOption('trust: add a key, ROLE:NAME=PUBLIC as printed by key generate'),
    threshold: listOption('trust: ROLE=N, the number of signatures needed'),
    large: textOption('trust: number of ring signatures that a large change needs'),
    'moved-share': textOption('trust: share of moved slots above which a change is large: 0.05'),
    'allow-override': textOption('trust: whether an override reason may replace them', {
      choices: ['yes', 'no'],
    }),
    days: textOption('generate, trust: lifetime of the root in days (default 731)'),
    'raise-epoch': flagOption('trust: invalidate all earlier signatures'),
    sign: flagOption('trust: add a signature to the pending root'),
    discard: flagOption('trust: discard the pending root'),
    accept: textOption('trust: remember this root, by its id, or that there is none: ID or none'),
  },
  examples: [
    ['$0 key generate ada', 'turn on signing: root, ring and beacon keys, and trust.json'],
    ['$0 key generate bob --role ring', 'a key for another person: prints the line for --add'],
    ['$0 key protect', 'encrypt the keys here that have no passphrase'],
    ['$0 key trust --add ring:bob=MCow…', 'the next root, with bob'],
    ['$0 key revoke eve', 'the next root, without eve'],
    ['$0 key trust --accept ID', 'another root of the folder, whose holder has confirmed the id'],
  ],
  about: `known-roots.json in the folder of keys remembers the root of each folder of rings that was
used. Commands that contact servers or sign refuse another root, unless it is signed by the
one before it. RINGWRIGHT_TRUST=ID counts instead, such as on machines of a CI: trust.json
must contain that root, and one of its keys must have signed each ring.`,
  run: async (args, context) => {
    const action = args.text('action');
    const names = args.texts('names');
    if (action === 'generate') return generateAnswer(args, context, names);
    if (action === 'list') {
      if (names.length > 0) throw usage(`key list shows all keys, and takes no ${names.join(' ')}`);
      return listAnswer(context);
    }
    if (action === 'protect') return protectAnswer(context, names);
    if (action === 'revoke') return revokeAnswer(args, context, names);
    if (names.length > 0) throw usage(`key trust takes options, not ${names.join(' ')}`);
    return trustAnswer(args, context);
  },
};

/** Encrypts private keys that have no passphrase; without names, all keys here. */
async function protectAnswer(context: Context, names: readonly string[]): Promise<Answer> {
  const { folder, passphrase } = context.keys;
  const keyNames = names.length > 0 ? names : (await listKeys(folder)).map(({ name }) => name);
  const done: string[] = [];
  for (const name of keyNames) {
    if (await protectKey(folder, name, () => passphrase('create'))) done.push(name);
  }
  const none = `all keys in ${folder} already have a passphrase`;
  return {
    json: { folder, protected: done, changed: done.length > 0 },
    lines: [done.length === 0 ? none : `encrypted in ${folder}: ${done.join(', ')}`],
    next: context.next('key list'),
  };
}

interface ListedKey {
  readonly name: string;
  readonly id: string;
  /** Null: the private half is here, but no root names the key. */
  readonly role: TrustRole | null;
  readonly here: boolean;
  /** A key of `certs`: it signs certificates of servers, no rings, and no root names it. */
  readonly authority: boolean;
}

async function listAnswer(context: Context): Promise<Answer> {
  const localKeys = await listKeys(context.keys.folder);
  const trust = (await readTrust(context.rings))?.trust ?? null;
  const root = trust?.root ?? null;
  const trusted: ListedKey[] = (root?.keys ?? []).map(({ name, spki }) => {
    const id = keyIdOf(spki);
    const role = (['root', 'ring', 'beacon'] as const).find((one) =>
      root?.roles[one].keys.includes(id),
    );
    const isHere = localKeys.some((one) => one.id === id);
    return { name, id, role: role ?? null, here: isHere, authority: false };
  });
  const others = localKeys
    .filter(({ id }) => !trusted.some((one) => one.id === id))
    .map(({ name, id }): ListedKey => {
      return { name, id, role: null, here: true, authority: isAuthorityKey(name) };
    });
  const keys = [...trusted, ...others];
  // The keys belong to rings elsewhere, so a second root is not suggested.
  const isElsewhere = localKeys.length > 0 && !(await exists(context.rings));
  const [line, next] =
    trust !== null
      ? [`root ${trust.root.version} (${trust.id})`, 'key trust']
      : isElsewhere
        ? [`${context.rings} does not exist: --rings DIR selects a folder`, 'key list --rings DIR']
        : ['rings here are unsigned', 'key generate'];
  return {
    json: { signed: root !== null, root: trust?.id ?? null, folder: context.keys.folder, keys },
    lines: [
      ...printTable(keys, [
        { head: 'KEY', cell: ({ name }) => name },
        { head: 'ID', cell: ({ id }) => id.slice(0, 12) },
        { head: 'ROLE', cell: roleText },
        { head: 'PRIVATE HALF', cell: (key) => (key.here ? 'here' : 'elsewhere') },
      ]),
      line,
    ],
    next: context.next(next),
  };
}

function roleText({ role, authority }: ListedKey): string {
  return role ?? (authority ? 'TLS certificates: certs list' : 'none: not trusted');
}

async function generateAnswer(
  args: Arguments,
  context: Context,
  names: readonly string[],
): Promise<Answer> {
  requireElsewhere(context);
  if (names.length > 1) throw usage(`name one key at a time, not ${names.join(' ')}`);
  const name = names[0] ?? keyNameOf(context.user);
  requireKeyName(name); // checked before a passphrase is asked for
  const role = args.optionalText('role');
  const trust = await readTrust(context.rings);
  if (trust === null && role === undefined) return turnOn(args, context, name);
  const { folder } = context.keys;
  const passphrase = requirePassphrase(await context.keys.passphrase('create'), name);
  const key = await generateKey(folder, name, passphrase);
  const line = `${role ?? 'ring'}:${name}=${key.spki}`;
  return {
    json: { key: { ...key, role: role ?? 'ring' }, folder, line, changed: true },
    lines: [
      `key ${name} (${key.id.slice(0, 12)}) is in ${folder}; the private key must stay there`,
      `the holders of the root keys add it with: ring-builder key trust --add ${line}`,
    ],
    next: context.next(`key trust --add ${line}`),
  };
}

async function turnOn(args: Arguments, context: Context, name: string): Promise<Answer> {
  const { root, cluster, trust, keys, expires } = await beginSigning(context, name, {
    cluster: args.optionalText('cluster'),
    expires: expiryAfter(args, context),
    passphrase: async () => requirePassphrase(await context.keys.passphrase('create'), name),
  });
  const { folder } = context.keys;
  const names = Object.values(keys).map((key) => key.name);
  return {
    json: { cluster, root, trust, keys, folder, expires, changed: true },
    lines: [
      `signing is on for cluster '${cluster}': commits are signed by ${name} from now on`,
      `root 1 (${root}) is in ${trust}, valid until ${expires}`,
      `keys ${names.join(', ')} are in ${folder}; keep copies of them`,
      `now move ${keys.root.name}.key to offline storage: it is only needed to change keys`,
      `servers: ring-server --trust ${trust} …, or --trust ${root}`,
      'large changes need a second ring key or --override: ring-builder key generate NAME --role ring',
    ],
    next: context.next('key list'),
  };
}
