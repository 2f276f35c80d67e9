// A new ring's folder: there as a whole or not at all.
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { replaceDurably, syncDirectory, temporaryPrefix } from '@ringwright/node/durable-files';
import { exists } from '@ringwright/node/missing-file';
import { printBuilderFile } from './folder/builder-file.ts';
import { ringExists } from './folder/require-ring.ts';
import { ringFolder } from './folder/ring-folder.ts';

/**
 * Adds a ring without versions to the rings folder, which is made when missing. `command` becomes
 * the first line of what version 1 is made of. Throws NAME_INVALID, RING_EXISTS.
 */
export async function createRing(
  rings: string,
  state: BuilderState,
  command: string,
): Promise<void> {
  const folder = ringFolder(rings, state.ring);
  if (await exists(folder.path)) throw ringExists(state.ring, folder.path);
  const temporary = join(rings, `${temporaryPrefix}${process.pid}-${state.ring}`);
  await mkdir(temporary, { recursive: true });
  try {
    const staged = [{ command, changes: [] }];
    const content = printBuilderFile({ head: null, log: null, state, staged });
    await replaceDurably(join(temporary, 'builder.json'), content);
    // Renaming onto a folder with files in it fails, so of two that create one ring, one wins.
    await rename(temporary, folder.path);
    await syncDirectory(rings);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (await exists(folder.builder)) throw ringExists(state.ring, folder.path);
    throw error;
  }
}
