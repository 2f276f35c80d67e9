// Turns signing on in a rings folder: makes three keys, and root 1, which trusts them.
import { isAbsolute, relative } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { guardMovedShareMax } from '@ringwright/base/limits';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { readTrust, trustPath } from '@ringwright/repository/folder/trust-file';
import { openRing } from '@ringwright/repository/open-ring';
import { beginTrust } from '@ringwright/repository/rotate-trust';
import { generateKey, type KnownKey, listKeys, loadKey } from '@ringwright/repository/signing-key';
import type { TrustRole, TrustRoot } from '@ringwright/ring/trust/trust-root';
import { usage } from '../cli/arguments.ts';
import type { Context } from '../cli/command.ts';
import { noteMadeRoot } from './known-root.ts';
import { authorOf } from './stage-command.ts';

type RoleKeys = Readonly<Record<TrustRole, KnownKey>>;

export interface BegunSigning {
  readonly cluster: string;
  /** Id of root 1. */
  readonly root: string;
  /** Path of the trust document. */
  readonly trust: string;
  readonly keys: RoleKeys;
  readonly expires: string;
  /** Whether new keys have no passphrase. */
  readonly isOpen: boolean;
}

/**
 * `passphrase`: called when keys are made; null leaves them unencrypted. Throws USAGE,
 * TRUST_EXISTS, SIGNING_KEY_LOCKED.
 */
export async function beginSigning(
  context: Context,
  name: string,
  settings: {
    readonly cluster?: string | undefined;
    readonly expires: string;
    readonly passphrase: () => Promise<string | null>;
  },
): Promise<BegunSigning> {
  requireElsewhere(context);
  const cluster = settings.cluster ?? (await clusterOfRings(context.rings));
  const { folder } = context.keys;
  const names = { root: `${name}-root`, ring: name, beacon: `${name}-beacon` };
  const knownKeys = await listKeys(folder);
  // Existing keys are used, such as those of a run that was interrupted.
  const isNew = Object.values(names).some((one) => !knownKeys.some((known) => known.name === one));
  const passphrase = isNew ? await settings.passphrase() : null;
  const key = async (one: string): Promise<KnownKey> =>
    knownKeys.find((known) => known.name === one) ?? generateKey(folder, one, passphrase);
  const keys = {
    root: await key(names.root),
    ring: await key(names.ring),
    beacon: await key(names.beacon),
  };
  const signer = await loadKey(folder, names.root, async () =>
    isNew ? passphrase : context.keys.passphrase('open'),
  );
  const { expires } = settings;
  const root = firstRoot({ cluster, keys, expires });
  const { id } = await beginTrust(context.rings, authorOf(context), { root, keys: [signer] });
  await noteMadeRoot(context, await readTrust(context.rings));
  return {
    cluster,
    root: id,
    trust: trustPath(context.rings),
    keys,
    expires,
    isOpen: isNew && passphrase === null,
  };
}

/** Derives a key name from a user: `Alice@db1` has the key `alice`. */
export function keyNameOf(user: string): string {
  const [person = ''] = user.split('@', 1);
  return person.toLowerCase().replaceAll(/[^a-z0-9-]/g, '') || 'ring';
}

function firstRoot(settings: {
  readonly cluster: string;
  readonly keys: RoleKeys;
  readonly expires: string;
}): TrustRoot {
  const { cluster, keys, expires } = settings;
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
    hint: 'use one folder for each cluster, because keys belong to a cluster; or add --cluster NAME',
  });
}

/** Private keys must not lie in the rings folder, which is committed to git and copied. */
export function requireElsewhere({ keys, rings }: Context): void {
  const relativePath = relative(rings, keys.folder);
  if (relativePath.startsWith('..') || isAbsolute(relativePath)) return;
  throw usage(
    `${keys.folder} is inside ${rings}, which is shared`,
    'choose a folder outside it with --key-folder DIR',
  );
}
