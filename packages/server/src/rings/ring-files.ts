// Ring files on disk that the server follows (Swift's way): polled, and adopted when they change.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { ringFileBytesMax, ringFilePollMs } from '@ringwright/base/limits';
import { codeOf } from '@ringwright/base/thrown';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import { z } from 'zod';
import type { ActiveRing } from './active-ring.ts';
import { ringFileName } from './ring-cache.ts';

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

/**
 * Throws RINGS_UNKNOWN or FILE_UNFIT for a path that does not exist at the start, since it was
 * probably mistyped. A ring that is yet to come is followed by its folder.
 */
export async function requireSources({ folder, files }: Watched): Promise<void> {
  if (folder !== undefined && (await stat(folder).catch(() => null))?.isDirectory() !== true) {
    throw new CodedError('RINGS_UNKNOWN', `--rings ${folder} is not an existing folder`, {
      hint: 'name the folder in which ring-builder keeps its rings: ring-builder list --rings DIR',
      details: { rings: folder },
    });
  }
  for (const file of files) {
    if ((await stat(file).catch(() => null))?.isFile() === true) continue;
    throw new CodedError('FILE_UNFIT', `--ring ${file} is not an existing file`, {
      hint: 'name a .ring file, such as rings/RING/versions/0000001.ring, or --rings with a folder',
      details: { file },
    });
  }
}

/** Checks at once, then periodically. Returns a function that ends it. */
export async function followRingFiles(ports: FilePorts, watched: Watched): Promise<() => void> {
  const marks = new Map<string, string>();
  let timer: NodeJS.Timeout | null = null;
  let ended = false;
  const poll = async (): Promise<void> => {
    for (const file of [...watched.files, ...(await headVersions(ports, watched.folder))]) {
      await lookAt(ports, marks, file);
    }
    if (!ended) timer = setTimeout(() => void poll(), ringFilePollMs);
  };
  await poll();
  return () => {
    ended = true;
    if (timer !== null) clearTimeout(timer);
  };
}

/** Adopts a file whose size or time has changed. A refused file is reported once per change. */
async function lookAt(ports: FilePorts, marks: Map<string, string>, file: string): Promise<void> {
  try {
    const { mtimeMs, size } = await stat(file);
    const mark = `${mtimeMs}/${size}`;
    if (marks.get(file) === mark) return;
    marks.set(file, mark);
    await ports.adopt(await readRegularFile(file, ringFileBytesMax));
  } catch (error) {
    refuse(ports, file, error);
  }
}

/** A missing file is not reported: it may still come. */
function refuse(ports: FilePorts, file: string, error: unknown): void {
  if (codeOf(error) !== 'ENOENT') {
    ports.onRefusal(file, error);
  }
}

/**
 * Returns the version that each repository names as its head. Another file beside it may belong to
 * a commit that did not succeed.
 */
async function headVersions(ports: FilePorts, folder: string | undefined): Promise<string[]> {
  if (folder === undefined) return [];
  const files: string[] = [];
  try {
    for (const ring of await readdir(folder, { withFileTypes: true })) {
      // Files that belong to all rings may lie beside the ring folders.
      if (!ring.isDirectory() && !ring.isSymbolicLink()) continue;
      const head = await headOf(ports, join(folder, ring.name, 'builder.json'));
      if (head !== null) files.push(join(folder, ring.name, 'versions', ringFileName(head)));
    }
  } catch (error) {
    refuse(ports, folder, error);
  }
  return files;
}

const builderSchema = z.object({ head: z.nullable(z.object({ version: z.int().min(1) })) });

/** Returns null without a head, and while the file is not what a repository writes. */
async function headOf(ports: FilePorts, file: string): Promise<number | null> {
  try {
    const bytes = await readRegularFile(file, ringFileBytesMax).catch(nullIfMissing);
    if (bytes === null) return null;
    return builderSchema.parse(JSON.parse(bytes.toString('utf8'))).head?.version ?? null;
  } catch (error) {
    refuse(ports, file, error);
    return null;
  }
}
