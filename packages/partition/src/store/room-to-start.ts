// How much free disk space a store needs to open.
import { stat, statfs } from 'node:fs/promises';
import { startRoomBytes } from '@ringwright/base/limits-store';
import { dataPaths } from '../file/data-paths.ts';
import { listSegments, segmentFile } from '../log/log-segment.ts';

interface RoomToStart {
  readonly freeBytes: number;
  readonly neededBytes: number;
  /** Bytes of the log, which is replayed into the partition files. */
  readonly logBytes: number;
}

/** Replayed data is in the log and, until it is checkpointed, twice in its partition file. */
export async function roomToStart(root: string): Promise<RoomToStart> {
  const directory = dataPaths.log(root);
  let logBytes = 0;
  for (const number of await listSegments(directory).catch(() => [])) {
    logBytes += (await stat(segmentFile(directory, number))).size;
  }
  const { bavail, bsize } = await statfs(root);
  return { freeBytes: bavail * bsize, neededBytes: 2 * logBytes + startRoomBytes, logBytes };
}
