// rings/store.json: where the heads of a rings folder are recorded. It is kept in a file and not
// only typed, because a command without it would commit beside the shared history.
import { isAbsolute, join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { ringStoresMax } from '@ringwright/base/limits';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { openHeadStore, splitUser } from '@ringwright/head-store/open-head-store';
import type { StoreAccess } from '@ringwright/head-store/store-access';
import { makeDirectoryPath, replaceDurably } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import { z } from 'zod';
import { keepStoreAccess, readStoreAccess } from './store-access-file.ts';

const schema = z.strictObject({
  format: z.literal(1),
  /** The URL typed with --store. */
  url: z.string(),
  /** Ring stores for rings without a head. Afterwards the head names its stores. */
  stores: z.array(z.string()).max(ringStoresMax),
  /** Written by older releases and ignored: see store-access-file.ts. */
  access: z.unknown().optional(),
});

interface StoreFile {
  readonly url: string;
  readonly stores: readonly string[];
  /** Credentials of this user; absent if the store needs none. */
  readonly access?: StoreAccess;
}

function storePath(rings: string): string {
  return join(rings, 'store.json');
}

/** Returns null if the head of record is the folder itself. Throws HEAD_RECORD_INVALID. */
export async function readStoreFile(rings: string): Promise<StoreFile | null> {
  const text = await readRegularText(storePath(rings)).catch(nullIfMissing);
  if (text === null) return null;
  const parsed = schema.safeParse(jsonOrNull(text));
  if (parsed.success) {
    const { url, stores } = parsed.data;
    const access = await readStoreAccess(rings, url);
    return { url, stores, ...(access !== null && { access }) };
  }
  throw new CodedError('HEAD_RECORD_INVALID', `${storePath(rings)} cannot be read`, {
    hint: 'remove it and give --store again',
  });
}

/**
 * Records the store for future commands. The same store again changes nothing. Another store is
 * refused, because it has another history. Throws USAGE.
 */
export async function useStore(
  rings: string,
  chosen: {
    readonly url: string;
    readonly stores: readonly string[];
    readonly access?: StoreAccess;
  },
): Promise<void> {
  const { url, user } = splitUser(chosen.url);
  openHeadStore(url);
  requireStorePaths(chosen.stores);
  const before = await readStoreFile(rings);
  if (before !== null && before.url !== url) {
    const message = `the heads of ${rings} are recorded in ${before.url}, not in ${url}`;
    throw new CodedError('USAGE', message, {
      hint: `another store has another history: use another folder (--rings), or edit ${storePath(rings)}`,
      details: { found: before.url, given: url },
    });
  }
  const stores = chosen.stores.length > 0 ? [...chosen.stores] : (before?.stores ?? []);
  const named = user === null ? {} : { user };
  const access = { ...before?.access, ...chosen.access, ...named };
  const text = `${JSON.stringify({ format: 1, url, stores })}\n`;
  await makeDirectoryPath(rings);
  if (Object.keys(access).length > 0) await keepStoreAccess(rings, url, access);
  const path = storePath(rings);
  if ((await readRegularText(path).catch(nullIfMissing)) !== text) await replaceDurably(path, text);
}

/** Requires absolute paths, because other machines use them too. Throws USAGE. */
export function requireStorePaths(stores: readonly string[]): void {
  const twice = stores.find((one, at) => stores.indexOf(one) !== at);
  const relative = stores.find((one) => !isAbsolute(one));
  const tooMany = stores.length > ringStoresMax;
  if (twice === undefined && relative === undefined && !tooMany) return;
  const problem = tooMany ? `${stores.length} folders` : `${relative ?? twice}`;
  throw new CodedError('USAGE', `ring stores must be different absolute folders: ${problem}`, {
    hint: `1 to ${ringStoresMax} of them, such as /srv/a/rings,/srv/b/rings,/srv/c/rings`,
  });
}
