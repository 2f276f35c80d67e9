// A fact about a directory that outlives the process: an empty file that exists or not.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceDurably, syncDirectory } from './durable-files.ts';

export function isRaised(flag: string): boolean {
  return existsSync(flag);
}

/** Durable when it resolves. */
export async function raiseFlag(flag: string): Promise<void> {
  if (!isRaised(flag)) await replaceDurably(flag, '');
}

/** Durable when it resolves. */
export async function lowerFlag(flag: string): Promise<void> {
  await rm(flag, { force: true });
  await syncDirectory(dirname(flag));
}
