// Creates a directory with its parents, although the system may refuse any of them.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '@ringwright/base/thrown';

/**
 * Like `mkdir` with `recursive`, which never ends if the system reports ENOENT for a directory
 * whose parent exists (/proc/x). Returns the directories that it made, parents first, and syncs
 * nothing. Existing entries stay as they are, even a file. Throws what mkdir throws.
 */
export async function makeDirectories(directory: string, mode = 0o777): Promise<string[]> {
  const outcome = await make(directory, mode);
  if (outcome !== 'no parent') return outcome === 'made' ? [directory] : [];
  const parents = await makeDirectories(dirname(directory), mode);
  if ((await make(directory, mode)) !== 'no parent') return [...parents, directory];
  throw Object.assign(new Error(`ENOENT: mkdir '${directory}'`), { code: 'ENOENT' });
}

async function make(directory: string, mode: number): Promise<'made' | 'present' | 'no parent'> {
  try {
    await mkdir(directory, { mode });
    return 'made';
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return 'present';
    if (code === 'ENOENT' && dirname(directory) !== directory) return 'no parent';
    throw error;
  }
}
