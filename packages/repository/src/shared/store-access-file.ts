// The credential files for the store of a rings folder. They are kept with the settings of the
// user, because a rings folder is shared: anyone who can write there could name a store of their
// own, and any private file of this user as the password file.
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CodedError } from '@ringwright/base/coded-error';
import { storesOpenedMax } from '@ringwright/base/limits-commands';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { type StoreAccess, storeAccessSchema } from '@ringwright/head-store/store-access';
import { makeDirectory, replaceDurably } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import { z } from 'zod';

const schema = z.strictObject({
  format: z.literal(1),
  /** In the order of use, the most recent last. */
  opened: z.array(
    z.strictObject({
      /** Absolute path of the folder of rings. */
      rings: z.string(),
      /** URL of the store, as in store.json. */
      url: z.string(),
      access: storeAccessSchema,
    }),
  ),
});
type Opened = z.infer<typeof schema>['opened'];

export function storeAccessPath(): string {
  return join(homedir(), '.config', 'ringwright', 'stores.json');
}

/** Returns null if no credentials are stored for it. Throws HEAD_RECORD_INVALID. */
export async function readStoreAccess(rings: string, url: string): Promise<StoreAccess | null> {
  const found = (await readOpened()).find((one) => one.rings === resolve(rings) && one.url === url);
  return found?.access ?? null;
}

export async function keepStoreAccess(
  rings: string,
  url: string,
  access: StoreAccess,
): Promise<void> {
  const opened = await readOpened();
  const entry = { rings: resolve(rings), url, access };
  if (isDeepStrictEqual(opened.at(-1), entry)) return;
  const others = opened.filter((one) => one.rings !== entry.rings || one.url !== url);
  const kept = [...others, entry].slice(-storesOpenedMax);
  const path = storeAccessPath();
  await makeDirectory(dirname(path));
  await replaceDurably(path, `${JSON.stringify({ format: 1, opened: kept })}\n`);
}

async function readOpened(): Promise<Opened> {
  const path = storeAccessPath();
  const text = await readRegularText(path).catch(nullIfMissing);
  if (text === null) return [];
  const parsed = schema.safeParse(jsonOrNull(text));
  if (parsed.success) return parsed.data.opened;
  throw new CodedError('HEAD_RECORD_INVALID', `${path} cannot be read`, {
    hint: 'remove it, then give --store and its options again',
  });
}
