// Telling a file that is missing from one that cannot be read.
import { stat } from 'node:fs/promises';

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(onlyMissing)) !== null;
}

/** For `.catch`: null when a file is missing; any other failure is thrown on. */
export function onlyMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
}
