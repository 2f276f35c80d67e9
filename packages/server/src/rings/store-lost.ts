// Active rings whose files somebody removed from under a running server.
import { join } from 'node:path';
import { exists } from '@ringwright/node/missing-file';
import type { RingHead } from '@ringwright/wire/hello';
import { cacheRing, type HighestHead, type RingCache, ringFileName } from './ring-cache.ts';

/**
 * Writes rings again whose file or `highest.json` somebody removed, and resolves to their
 * keyspaces. A start would find no ring, or accept one that is older than the highest.
 */
export async function storeLost(
  cache: RingCache,
  highest: ReadonlyMap<string, HighestHead>,
  active: ReadonlyMap<string, { readonly id: string; readonly bytes: Uint8Array }>,
): Promise<string[]> {
  const lost: string[] = [];
  for (const [keyspace, head] of highest) {
    const ring = active.get(keyspace);
    if (ring?.id !== head.id || (await isStored(cache, head))) continue;
    await cacheRing(cache, head, ring.bytes);
    lost.push(keyspace);
  }
  return lost;
}

async function isStored({ directory }: RingCache, head: RingHead): Promise<boolean> {
  const folder = join(directory, head.keyspace);
  const paths = ['highest.json', ringFileName(head.version)].map((name) => join(folder, name));
  return (await Promise.all(paths.map(exists))).every(Boolean);
}
