// Creates a directory with its parents, although the system may refuse any of them.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '@ringwright/base/thrown';

/**
 * Like `mkdir` with `recursive`, which never ends if the system reports ENOENT for a directory
 * whose parent exists (/proc/x). Syncs nothing. Existing entries stay as they are, even a file.
 * Throws what mkdir throws.
 */
export async function makeDirectories(directory: string, mode = 0o777): Promise<void> {
  if (await isMade(directory, mode)) return;
  await makeDirectories(dirname(directory), mode);
  if (!(await isMade(directory, mode))) {
    throw Object.assign(new Error(`ENOENT: mkdir '${directory}'`), { code: 'ENOENT' });
  }
}

/** False when the parent is missing. */
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
