// The file that is there as long as the log has segments. Without it nobody could say whether a log
// without segments was deleted or closed cleanly.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { replaceDurably, syncDirectory } from '@ringwright/node/durable-files';
import { dataPaths } from '../file/data-paths.ts';

/** To be called when the log has a segment. Durable when it resolves. */
export async function noteLogInUse(root: string): Promise<void> {
  if (!existsSync(dataPaths.logInUse(root))) await replaceDurably(dataPaths.logInUse(root), '');
}

/** To be called before the last segments go. Durable when it resolves. */
export async function noteLogUnused(root: string): Promise<void> {
  await rm(dataPaths.logInUse(root), { force: true });
  await syncDirectory(root);
}

/** `segments`: what the log has. Throws LOG_DAMAGED when it was in use, and has none. */
export function checkLogIsThere(root: string, segments: readonly number[]): void {
  const mark = dataPaths.logInUse(root);
  if (segments.length > 0 || !existsSync(mark)) return;
  const log = dataPaths.log(root);
  throw new CodedError('LOG_DAMAGED', `the log was in use, and ${log} has no segment of it`, {
    hint:
      'put its files back; else move the data directory aside and refill the device; ' +
      `where an older program has stopped in between, remove ${mark}`,
    details: { directory: log },
  });
}
