// Detects that another command has moved the head. Cheap enough to call ten times a second.
import { stat } from 'node:fs/promises';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { headOf, readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import { catchUp } from '@ringwright/repository/write-ring';
import type { Context } from '../cli/command.ts';
import { authorOf } from '../versions/stage-command.ts';

/** The log is replaced, never appended to, so a change shows in its inode. */
export function headWatch(rings: string, { ring, id }: StoredVersion): () => Promise<boolean> {
  const { log } = ringFolder(rings, ring.keyspace);
  let lastMark: string | null = null;
  return async () => {
    const { ino, mtimeMs, size } = await stat(log);
    const mark = `${ino} ${mtimeMs} ${size}`;
    if (mark === lastMark) return false;
    lastMark = mark;
    return headOf(await readLog(rings, ring.keyspace))?.id !== id;
  };
}

/**
 * Whether the head has moved by now; with a store, also in another working copy. If the store
 * does not answer, the folder alone counts. An unreadable ring has not moved.
 */
export async function hasNewerHead(
  context: Pick<Context, 'rings' | 'user' | 'nowMs'>,
  { ring, id }: { readonly ring: string; readonly id: string },
): Promise<boolean> {
  await catchUp({ rings: context.rings, ring }, authorOf(context)).catch(codedOrDisk);
  const entries = await resultOrError(readLog(context.rings, ring));
  return !(entries instanceof CodedError) && headOf(entries)?.id !== id;
}
