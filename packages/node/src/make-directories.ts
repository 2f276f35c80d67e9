// A directory with its parents, where the system may refuse any of them.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '@ringwright/base/thrown';

/**
 * As `mkdir` with `recursive`, which never ends where the system says of a directory below one that
 * is there that its parent is not (/proc/x). Nothing is synced. What is there already stays as it
 * is, a file too. Throws what mkdir does.
 */
export async function makeDirectories(directory: string, mode = 0o777): Promise<void> {
  if (await isMade(directory, mode)) return;
  await makeDirectories(dirname(directory), mode);
  if (!(await isMade(directory, mode))) {
    throw Object.assign(new Error(`ENOENT: mkdir '${directory}'`), { code: 'ENOENT' });
  }
}

/** False when its parent is missing. */
async function isMade(directory: string, mode: number): Promise<boolean> {
  try {
    await mkdir(directory, { mode });
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT' && dirname(directory) !== directory) return false;
    throw error;
  }
}
