// Detects that another command has moved the head. Cheap enough to call ten times a second.
import { stat } from 'node:fs/promises';
import { headOf, readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';

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
