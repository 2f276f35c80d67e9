// The rings on a server's disk: rings/<keyspace>/<version>.ring, and the highest one that was ever
// active.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { ringVersionsKept } from '@ringwright/base/limits';
import { makeDirectory } from '@ringwright/node/durable-files';
import { readOwnFile } from '@ringwright/node/read-regular-file';
import { decodeRing, type RingFile } from '@ringwright/ring/file/ring-file';
import { keyspaceNamePattern } from '@ringwright/ring/keyspace-name';
import type { RingHead } from '@ringwright/wire/hello';
import { ringHeadSchema } from '@ringwright/wire/hello';
import { z } from 'zod';
import { replaceState, writeState } from '../device/state-file.ts';

/** Name of the file of a version, here and in repositories. */
export const ringFileName = (version: number): string => `${String(version).padStart(7, '0')}.ring`;

/** Rings are compared by epoch, then by version. Unsigned rings have no epoch. */
const highestSchema = ringHeadSchema.extend({ epoch: z.int().min(1).exactOptional() });
export type HighestHead = z.infer<typeof highestSchema>;

export interface CachedRing {
  /** The newest ring whose file is intact; null if none is. */
  readonly file: { readonly decoded: RingFile; readonly bytes: Uint8Array } | null;
  /** The highest version that was ever active, which may be above that of `file`. */
  readonly highest: HighestHead;
}

export interface RingCache {
  readonly directory: string;
}

/**
 * Makes a ring survive a crash before it is used: writes the file first, then the highest version.
 * A crash between the two leaves a file that a push of the same ring replaces with equal bytes.
 */
export async function cacheRing(
  cache: RingCache,
  head: HighestHead,
  bytes: Uint8Array,
): Promise<void> {
  const folder = join(cache.directory, head.keyspace);
  await makeDirectory(folder);
  await replaceState(join(folder, ringFileName(head.version)), bytes);
  // failpoint: ring.file-written
  await writeState(join(folder, 'highest.json'), highestSchema, head);
  const versions = await listVersions(folder);
  // A new epoch begins below the versions of the old one, which must not displace it from the
  // cache.
  const oldEpochVersions = versions.filter((version) => version > head.version);
  const currentVersions = versions.filter((version) => version <= head.version);
  for (const version of [...oldEpochVersions, ...currentVersions.slice(0, -ringVersionsKept)]) {
    await rm(join(folder, ringFileName(version)), { force: true });
  }
}

/**
 * Returns the newest intact ring of every keyspace, and its highest version even if no file is
 * intact. Damaged files are skipped and reported.
 */
export async function loadRingCache(
  cache: RingCache,
  onDamage: (file: string, error: unknown) => void,
): Promise<CachedRing[]> {
  await makeDirectory(cache.directory);
  const rings: CachedRing[] = [];
  for (const keyspace of await readdir(cache.directory)) {
    if (!keyspaceNamePattern.test(keyspace)) continue;
    const cached = await loadNewest(join(cache.directory, keyspace), keyspace, onDamage);
    if (cached !== null) rings.push(cached);
  }
  return rings;
}

async function loadNewest(
  folder: string,
  keyspace: string,
  onDamage: (file: string, error: unknown) => void,
): Promise<CachedRing | null> {
  const highest = await readHighest(folder, keyspace, onDamage);
  for (const version of (await listVersions(folder)).reverse()) {
    // A file above the highest version was never active: a crash came before the activation.
    if (highest !== null && version > highest.version) continue;
    const file = join(folder, ringFileName(version));
    try {
      const bytes = await readOwnFile(file);
      const decoded = decodeRing(bytes);
      const head = {
        keyspace: decoded.ring.keyspace,
        version: decoded.ring.version,
        id: decoded.id,
      };
      const wanted = { keyspace, version, id: version === highest?.version ? highest.id : head.id };
      checkSame(file, head, wanted);
      return { file: { decoded, bytes }, highest: highest ?? head };
    } catch (error) {
      onDamage(file, error);
    }
  }
  return highest === null ? null : { file: null, highest };
}

async function readHighest(
  folder: string,
  keyspace: string,
  onDamage: (file: string, error: unknown) => void,
): Promise<HighestHead | null> {
  const file = join(folder, 'highest.json');
  try {
    const head = highestSchema.parse(JSON.parse(String(await readOwnFile(file))));
    checkSame(file, head, { ...head, keyspace });
    return head;
  } catch (error) {
    onDamage(file, error);
    return null;
  }
}

/** A file that somebody moved or replaced counts as damaged. */
function checkSame(file: string, found: RingHead, wanted: RingHead): void {
  const [is, should] = [found, wanted].map((head) => `${head.keyspace} ${head.version} ${head.id}`);
  if (is !== should) throw new CodedError('RING_FILE_INVALID', `${file} is ${is}, not ${should}`);
}

async function listVersions(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names
    .flatMap((name) => (/^\d{7,}\.ring$/.test(name) ? [Number.parseInt(name, 10)] : []))
    .sort((a, b) => a - b);
}
