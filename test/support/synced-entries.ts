// Records what is synced to disk, because no test can cut the power.
import { fstatSync, readdirSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';

/** Maps inodes of synced files and directories to the entries that a directory had then. */
export type Synced = ReadonlyMap<number, ReadonlySet<string>>;

export async function recordSyncs(): Promise<Synced> {
  const synced = new Map<number, Set<string>>();
  await using handle = await open('/', 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  const sync = Reflect.get(prototype, 'sync');
  vi.spyOn(prototype, 'sync').mockImplementation(async function record(this: FileHandle) {
    const { ino } = fstatSync(this.fd);
    const isDirectory = fstatSync(this.fd).isDirectory();
    const names = isDirectory ? readdirSync(`/proc/self/fd/${this.fd}`) : [];
    await sync.call(this);
    synced.set(ino, new Set([...(synced.get(ino) ?? []), ...names]));
  });
  return synced;
}

/** Returns the paths at and below `path` whose name or content a power failure could still lose. */
export function unsynced(path: string, synced: Synced): string[] {
  const isNameSynced = synced
    .get(statSync(dirname(path)).ino)
    ?.has(path.slice(path.lastIndexOf('/') + 1));
  const found = statSync(path);
  const below = found.isDirectory()
    ? readdirSync(path).flatMap((name) => unsynced(join(path, name), synced))
    : [];
  const isContentSynced = found.isDirectory() || synced.has(found.ino);
  return isNameSynced === true && isContentSynced ? below : [path, ...below];
}
