// Working copies of one ring whose head is in a store, and the ring stores that hold its files.
import { mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRecord, parseTransaction, transactionName } from '@ringwright/head-store/head-record';
import { openHeadStore } from '@ringwright/head-store/open-head-store';
import { useStore } from '@ringwright/repository/shared/store-file';
import { catchUp } from '@ringwright/repository/write-ring';
import { author, scratchRings } from './small-repository.ts';

export interface SharedRepository {
  readonly url: string;
  readonly stores: readonly string[];
  /** The copy in which the ring was created. */
  readonly rings: string;
  /** Creates the copy of another operator, with all versions so far. */
  copy(): Promise<string>;
}

export async function sharedRepository(url: string): Promise<SharedRepository> {
  const root = await mkdtemp(join(tmpdir(), 'ringwright-stores-'));
  const stores = ['a', 'b', 'c'].map((name) => join(root, name));
  for (const store of stores) await mkdir(store);
  const rings = await scratchRings();
  await useStore(rings, { url, stores });
  return {
    url,
    stores,
    rings,
    async copy() {
      const other = await mkdtemp(join(tmpdir(), 'ringwright-copy-'));
      await useStore(other, { url, stores: [] });
      await catchUp({ rings: other, ring: 'cities' }, author);
      return other;
    },
  };
}

/**
 * Returns the files that a ring store has in addition to, or lacks from, what the head names. Both
 * lists are empty in a sound store.
 */
export async function storeAgainstHead(
  url: string,
  store: string,
): Promise<{ readonly beside: readonly string[]; readonly lacking: readonly string[] }> {
  const stored = await openHeadStore(url).read('cities');
  const record = parseRecord(stored?.value ?? '');
  const found = await readdir(join(store, 'cities'));
  const name = transactionName(record);
  if (!found.includes(name)) return { beside: found, lacking: [name] };
  const content = parseTransaction(await readFile(join(store, 'cities', name), 'utf8'));
  const files = [...content.files, ...content.receipts];
  const named = [name, ...files.map((file) => file.name)];
  return {
    beside: found.filter((one) => !named.includes(one)),
    lacking: named.filter((one) => !found.includes(one)),
  };
}
