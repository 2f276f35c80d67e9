// Ring files on disk that the server follows (Swift's way): polled, and adopted when they change.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ringFileBytesMax, ringFilePollMs } from '@ringwright/base/limits';
import { z } from 'zod';
import type { ActiveRing } from './active-ring.ts';
import { ringFileName } from './ring-shelf.ts';

interface FilePorts {
  readonly adopt: (bytes: Uint8Array) => Promise<ActiveRing>;
  readonly onRefusal: (file: string, error: unknown) => void;
}

interface Watched {
  /**
   * Folder of ring folders (`rings/<ring>/versions/*.ring`), of which the newest version counts.
   */
  readonly folder: string | undefined;
  readonly files: readonly string[];
}

/** Looks now, then again and again; the function returned ends it. */
export async function followRingFiles(ports: FilePorts, watched: Watched): Promise<() => void> {
  const seen = new Map<string, string>();
  let timer: NodeJS.Timeout | null = null;
  let ended = false;
  const look = async (): Promise<void> => {
    for (const file of [...watched.files, ...(await headVersions(watched.folder))]) {
      await lookAt(ports, seen, file);
    }
    if (!ended) timer = setTimeout(() => void look(), ringFilePollMs);
  };
  await look();
  return () => {
    ended = true;
    if (timer !== null) clearTimeout(timer);
  };
}

/** Adopts a file whose size or time changed; a refused one is reported once per change. */
async function lookAt(ports: FilePorts, seen: Map<string, string>, file: string): Promise<void> {
  try {
    const { mtimeMs, size } = await stat(file);
    const mark = `${mtimeMs}/${size}`;
    if (seen.get(file) === mark || size > ringFileBytesMax) return;
    seen.set(file, mark);
    await ports.adopt(await readFile(file));
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!missing) ports.onRefusal(file, error);
  }
}

/** The version each repository names as its head: a file beside it may be a commit that never was. */
async function headVersions(folder: string | undefined): Promise<string[]> {
  if (folder === undefined) return [];
  const files: string[] = [];
  for (const ring of await readdir(folder).catch(() => [])) {
    const text = await readFile(join(folder, ring, 'builder.json'), 'utf8').catch(() => '');
    const head = headOf(text);
    if (head !== null) files.push(join(folder, ring, 'versions', ringFileName(head)));
  }
  return files;
}

const builderSchema = z.object({ head: z.nullable(z.object({ version: z.int().min(1) })) });

/** Null without a head, and while the file is not what a repository writes. */
function headOf(builderJson: string): number | null {
  try {
    return builderSchema.parse(JSON.parse(builderJson)).head?.version ?? null;
  } catch {
    return null;
  }
}
