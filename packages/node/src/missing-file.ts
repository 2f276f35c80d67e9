// Distinguishes a missing file from one that cannot be read.
import { stat } from 'node:fs/promises';
import { codeOf } from '@ringwright/base/thrown';

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(nullIfMissing)) !== null;
}

/** For `.catch`: null when a file is missing; any other failure is rethrown. */
export function nullIfMissing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}
