// Copies a file without opening it here: closing any descriptor of a live database would drop the
// locks that SQLite holds on it in this process (reliability research F3).
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** `from` and `to` are absolute paths. Rejects, and leaves nothing at `to`, when it was not copied. */
export async function copyByProcess(from: string, to: string): Promise<void> {
  try {
    await run('cp', [from, to]);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}
