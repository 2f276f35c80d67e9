// The roots of trust that this user knows, kept beside the private keys. A folder of rings is
// shared: whoever can write there can replace trust.json together with all that it vouches for.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { trustRootsMax } from '@ringwright/base/limits';
import { knownFoldersMax, knownHistoriesMax } from '@ringwright/base/limits-commands';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { replaceDurably } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import { z } from 'zod';
import { type RingsTrust, trustPath } from './folder/trust-file.ts';

const historySchema = z.strictObject({
  /** Version of its newest root. */
  version: z.int().min(1),
  /** Ids of its roots, oldest first. */
  roots: z.array(z.string()).min(1).max(trustRootsMax),
  /** Absolute paths of the folders of rings that have it. */
  folders: z.array(z.string()),
  /** Rings whose heads were signed. */
  signed: z.array(z.string()),
});

/** A chain of roots that this user trusts. */
export type KnownHistory = z.infer<typeof historySchema>;

const schema = z.strictObject({
  format: z.literal(1),
  /** In the order of their last change. */
  histories: z.array(historySchema),
});

function knownRootsPath(keyFolder: string): string {
  return join(keyFolder, 'known-roots.json');
}

/** Throws TRUST_INVALID for a damaged file, and Node's own error if it cannot be read. */
export async function readKnownRoots(keyFolder: string): Promise<readonly KnownHistory[]> {
  const path = knownRootsPath(keyFolder);
  const text = await readRegularText(path).catch(nullIfMissing);
  if (text === null) return [];
  const parsed = schema.safeParse(jsonOrNull(text));
  if (parsed.success) return parsed.data.histories;
  throw new CodedError('TRUST_INVALID', `${path} cannot be read`, {
    hint: 'remove it; the next command then trusts the root that it finds, so compare that first',
    details: { path },
  });
}

async function write(keyFolder: string, histories: readonly KnownHistory[]): Promise<void> {
  await mkdir(keyFolder, { recursive: true, mode: 0o700 });
  const kept = histories.slice(-knownHistoriesMax);
  await replaceDurably(
    knownRootsPath(keyFolder),
    `${JSON.stringify({ format: 1, histories: kept })}\n`,
  );
}

/**
 * Returns what is known of a folder: by its path, or, for a copy at a new path, by the ids of its
 * roots. Null: nothing.
 */
export function historyOf(
  known: readonly KnownHistory[],
  rings: string,
  trust: RingsTrust | null,
): KnownHistory | null {
  const ids = new Set(trust?.roots.map(({ id }) => id));
  const atPath = known.find(({ folders }) => folders.includes(resolve(rings)));
  return atPath ?? known.findLast(({ roots }) => roots.some((id) => ids.has(id))) ?? null;
}

/**
 * Requires that the roots of the folder continue those that are known. Earlier roots must be known,
 * too: a root does not say which one it follows, so a forged one could be put before it. Throws
 * TRUST_OLDER, TRUST_FORK.
 */
export function requireDescent(rings: string, known: KnownHistory, { roots, trust }: RingsTrust) {
  const newest = known.roots.at(-1) ?? '';
  const at = roots.findIndex(({ id }) => id === newest);
  if (at >= 0 && roots.slice(0, at).every(({ id }) => known.roots.includes(id))) return;
  const isOlder = roots.every(({ id }) => known.roots.includes(id));
  const { version } = trust.root;
  const knownText = `root ${known.version} (${newest})`;
  const message = isOlder
    ? `${trustPath(rings)} ends with root ${version} (${trust.id}), but ${knownText} is known here`
    : `root ${version} (${trust.id}) of ${trustPath(rings)} does not descend from ${knownText}, ` +
      'which is known here';
  throw new CodedError(isOlder ? 'TRUST_OLDER' : 'TRUST_FORK', message, {
    hint:
      `${getTrustBack(newest)}; ring-builder key trust --accept ${trust.id} accepts this root, ` +
      'once a holder of a root key has confirmed that id',
    details: { rings, version, id: trust.id, known: { version: known.version, id: newest } },
  });
}

/** `id`: the root that is known. */
export function getTrustBack(id: string): string {
  return (
    'restore trust.json from git or another operator; or, without the present one, run ' +
    `ring-builder restore RING --from IP:PORT --replace --trust ${id}`
  );
}

/** The error for rings without trust.json, in a folder where a root is known. */
export function lostTrust(rings: string, id: string): CodedError {
  const message = `${trustPath(rings)} is missing, but root ${id} is known here`;
  return new CodedError('TRUST_UNKNOWN', message, {
    hint:
      `${getTrustBack(id)}; ring-builder key trust --accept none accepts that the rings here are ` +
      'unsigned',
    details: { rings, known: { id } },
  });
}

/**
 * Remembers the folder's roots and which of its rings are signed. `trust` null: forgets the folder.
 * Several processes may do so: the last one wins, and the next command adds what is then missing.
 */
export async function keepKnownRoots(
  keyFolder: string,
  rings: string,
  { trust, signed }: { readonly trust: RingsTrust | null; readonly signed: readonly string[] },
): Promise<void> {
  const path = resolve(rings);
  const known = await readKnownRoots(keyFolder);
  const elsewhere = known.map((one) => {
    return { ...one, folders: one.folders.filter((folder) => folder !== path) };
  });
  if (trust === null) {
    const isKnown = known.some(({ folders }) => folders.includes(path));
    return isKnown ? write(keyFolder, elsewhere) : undefined;
  }
  const ids = trust.roots.map(({ id }) => id);
  const isSame = ({ roots }: KnownHistory): boolean => roots.some((id) => ids.includes(id));
  const same = elsewhere.filter(isSame);
  const history = {
    version: trust.trust.root.version,
    roots: ids,
    folders: [...same.flatMap(({ folders }) => folders), path].slice(-knownFoldersMax),
    signed: [...signed],
  };
  return write(keyFolder, [...elsewhere.filter((one) => !isSame(one)), history]);
}
