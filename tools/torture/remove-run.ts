// Removes the folder of a run that has ended.
import fs from 'node:fs/promises';

const TRIES_MAX = 10;

/** Processes beside a server that was killed may have files left to write for a moment. */
export async function removeRun(folder: string): Promise<void> {
  await fs.rm(folder, { recursive: true, force: true, maxRetries: TRIES_MAX });
}
