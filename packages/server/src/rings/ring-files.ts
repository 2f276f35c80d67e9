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
  const seen: Seen = { finished: new Map(), reported: new Map() };
  let timer: NodeJS.Timeout | null = null;
  let ended = false;
  const poll = async (): Promise<void> => {
    for (const file of [...watched.files, ...(await headVersions(ports, watched.folder))]) {
      await lookAt(ports, seen, file);
    }
    if (!ended) timer = setTimeout(() => void poll(), ringFilePollMs);
  };
  await poll();
  return () => {
    ended = true;
    if (timer !== null) clearTimeout(timer);
  };
}

/** The state of each file, by its size and time, that needs no second look or no second report. */
interface Seen {
  readonly finished: Map<string, string>;
  readonly reported: Map<string, string>;
}

/**
 * Adopts a file whose size or time has changed, and tries again after a failure that may pass. A
 * failure is reported once per change.
 */
async function lookAt(ports: FilePorts, { finished, reported }: Seen, file: string): Promise<void> {
  let state = '';
  try {
    const { mtimeMs, size } = await stat(file);
    state = `${mtimeMs}/${size}`;
    if (finished.get(file) === state) return;
    await ports.adopt(await readRegularFile(file, ringFileBytesMax));
    finished.set(file, state);
  } catch (error) {
    if (state !== '' && !mayPass(error)) finished.set(file, state);
    if (state === '' || reported.get(file) !== state) refuse(ports, file, error);
    reported.set(file, state);
  }
}

/** Whether the same ring may be adopted later: the disk was full, or a file could not be opened. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof CodedError)) return codeOf(error) !== '';
  return error.retry !== 'never' || error.code === 'DISK_FAILED';
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
