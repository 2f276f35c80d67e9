// ring-builder key generate: a key pair; the first time in a rings folder, signing is turned on.
import { isAbsolute, relative } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { guardMovedShareMax } from '@ringwright/base/limits';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { readTrust, trustPath } from '@ringwright/repository/folder/trust-file';
import { openRing } from '@ringwright/repository/open-ring';
import { beginTrust } from '@ringwright/repository/rotate-trust';
import { generateKey, type KnownKey, listKeys, loadKey } from '@ringwright/repository/signing-key';
import type { TrustRole, TrustRoot } from '@ringwright/ring/trust/trust-root';
import { type Arguments, optionalText, usage } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/verb.ts';
import { authorOf } from '../../versions/stage-verb.ts';
import { expiryAfter } from './key-expiry.ts';

export async function generateAnswer(
  args: Arguments,
  context: Context,
  names: readonly string[],
): Promise<Answer> {
  requireElsewhere(context);
  if (names.length > 1) throw usage(`one key at a time, not ${names.join(' ')}`);
  const name = names[0] ?? keyNameOf(context.user);
  const role = optionalText(args, 'role');
  const trust = await readTrust(context.rings);
  if (trust === null && role === undefined) return turnOn(args, context, name);
  const { folder } = context.keys;
  const passphrase = await context.keys.passphrase('create');
  const key = await generateKey(folder, name, passphrase);
  const line = `${role ?? 'ring'}:${name}=${key.spki}`;
  return {
    json: { key: { ...key, role: role ?? 'ring' }, folder, line, changed: true },
    lines: [
      `key ${name} (${key.id.slice(0, 12)}) is in ${folder}; its private half must stay there`,
      `whoever holds the root keys lets it count with: ring-builder key trust --add ${line}`,
    ],
    next: context.next(`key trust --add ${line}`),
  };
}

/** `Alice@db1` has the key `alice`. */
function keyNameOf(user: string): string {
  const [person = ''] = user.split('@', 1);
  return person.toLowerCase().replaceAll(/[^a-z0-9-]/g, '') || 'ring';
}

/** Three keys and root 1. What is there already from a run that was stopped is used. */
async function turnOn(args: Arguments, context: Context, name: string): Promise<Answer> {
  const cluster = optionalText(args, 'cluster') ?? (await clusterOfRings(context.rings));
  const expires = expiryAfter(args, context);
  const { folder } = context.keys;
  const names: Record<TrustRole, string> = {
    root: `${name}-root`,
    ring: name,
    beacon: `${name}-beacon`,
  };
  const there = await listKeys(folder);
  const isNew = Object.values(names).some((one) => !there.some((known) => known.name === one));
  const passphrase = await context.keys.passphrase(isNew ? 'create' : 'open');
  const keys = {} as Record<TrustRole, KnownKey>;
  for (const role of ['root', 'ring', 'beacon'] as const) {
    const known = there.find((one) => one.name === names[role]);
    keys[role] = known ?? (await generateKey(folder, names[role], passphrase));
  }
  const root = firstRoot({ cluster, keys, expires });
  const signer = await loadKey(folder, names.root, passphrase);
  const { id } = await beginTrust(context.rings, authorOf(context), { root, keys: [signer] });
  const path = trustPath(context.rings);
  return {
    json: { cluster, root: id, trust: path, keys, folder, expires: root.expires, changed: true },
    lines: [
      `signing is on for cluster '${cluster}': commits are signed by ${name} from now on`,
      `root 1 (${id}) is in ${path}, good until ${root.expires}`,
      `keys ${Object.values(names).join(', ')} are in ${folder}, encrypted; keep copies of them`,
      `now move ${names.root}.key to a place without network: it is needed to change keys only`,
      `servers: ring-server --trust ${path} …, or --trust ${id}`,
      'large changes need a second ring key or --override: ring-builder key generate NAME --role ring',
    ],
    next: context.next('key list'),
  };
}

function firstRoot(given: {
  readonly cluster: string;
  readonly keys: Readonly<Record<TrustRole, KnownKey>>;
  readonly expires: string;
}): TrustRoot {
  const { cluster, keys, expires } = given;
  const role = (key: KnownKey): { keys: string[]; threshold: number } => {
    return { keys: [key.id], threshold: 1 };
  };
  const guard = { large: 2, override: true, movedShare: guardMovedShareMax };
  return {
    cluster,
    version: 1,
    epoch: 1,
    expires,
    keys: Object.values(keys).map(({ name, spki }) => ({ name, spki })),
    roles: {
      root: role(keys.root),
      ring: { ...role(keys.ring), ...guard },
      beacon: role(keys.beacon),
    },
  };
}

async function clusterOfRings(rings: string): Promise<string> {
  const clusters = new Set<string>();
  for (const name of await listRings(rings)) {
    const opened = await openRing(rings, name).catch(() => null);
    if (opened !== null) clusters.add(opened.state.cluster);
  }
  if (clusters.size <= 1) return [...clusters][0] ?? 'default';
  const message = `${rings} has rings of the clusters ${[...clusters].join(', ')}`;
  throw new CodedError('USAGE', message, {
    hint: 'one folder for each cluster, since keys are those of a cluster; or --cluster NAME',
  });
}

/** A rings folder is made to be committed to git and copied about; private keys are not. */
function requireElsewhere({ keys, rings }: Context): void {
  const way = relative(rings, keys.folder);
  if (way.startsWith('..') || isAbsolute(way)) return;
  throw usage(`${keys.folder} lies in ${rings}, which is shared`, '--key-folder DIR outside of it');
}
