// Brings the partition files to the state before a crash, and begins a new segment.
import { assert } from '@ringwright/base/assert';
import { raiseFlag } from '@ringwright/node/durable-flag';
import { writeCheckpoints } from './file/checkpoints.ts';
import { dataPaths } from './file/data-paths.ts';
import { Memtables } from './file/memtables.ts';
import { noSegment, type Partition } from './file/partition.ts';
import type { Registry } from './file/registry.ts';
import type { OnStep } from './file/start-step.ts';
import { applyGroup } from './log/apply-writes.ts';
import { checkpointPartition } from './log/checkpointer.ts';
import type { LogPartition } from './log/log-entries.ts';
import {
  checkLogIsThere,
  createSegment,
  type LogSegment,
  listSegments,
  removeSegments,
} from './log/log-segment.ts';
import { replayLog } from './log/replay-log.ts';
import type { StoreParts } from './store/store-parts.ts';

/** Nobody is served yet, so large transactions only save time. */
const RECOVERY = {
  memtableRowsMax: 16_384,
  memtableBytesMax: 16 * 1024 * 1024,
  memtablesBytesMax: 64 * 1024 * 1024,
  walBytesMax: 16 * 1024 * 1024,
};

type Recovering = Pick<StoreParts, 'root' | 'files' | 'registry'>;

/**
 * Replays the log into the WALs of the partition files, and begins an empty segment. The log keeps
 * the segments until the running store has checkpointed the files. Throws LOG_DAMAGED.
 */
export async function recoverLog(parts: Recovering, onStep: OnStep): Promise<LogSegment> {
  const { root, files, registry } = parts;
  const memtables = new Memtables(files, RECOVERY);
  const directory = dataPaths.log(root);
  checkLogIsThere(root, await listSegments(directory));
  const segments = await replayLog(directory, {
    apply: ({ partition: logPartition, entries, segment }) => {
      const partition = replayed(logPartition, segment, registry);
      if (partition === null) return;
      const options = { files, segment, answer: () => {}, refuse: () => {} };
      applyGroup(partition, entries, options);
      memtables.afterWrites([partition]);
      if (partition.file?.wal.exceeds(RECOVERY.walBytesMax)) checkpointPartition(files, partition);
    },
    applied: ({ keyspace, partition }) => {
      const replayedPartition = registry.get(keyspace, partition);
      if (replayedPartition === undefined || replayedPartition.dirtySegment === noSegment) return;
      // Rows that wait in memory would keep the bytes of the segments alive.
      memtables.flush(replayedPartition);
      // failpoint: replay.flushed
      if (replayedPartition.damage !== null) files.abandon(replayedPartition);
      else replayedPartition.file?.pageCache.trim();
      assert(
        (replayedPartition.file?.pending.size ?? 0) === 0,
        'no row waits in the bytes of a segment',
      );
    },
    onStep,
  });
  const needed = Math.min(
    ...[...registry.all()].map(({ dirtySegment }) => dirtySegment),
    noSegment,
  );
  // The new segment comes first: a log in use always has a segment.
  const newSegment = await createSegment(directory, (segments.at(-1) ?? 0) + 1);
  try {
    await raiseFlag(dataPaths.logInUse(root));
    if (segments.some((number) => number < needed)) await writeCheckpoints(root, registry);
    // failpoint: replay.before-removal
    await removeSegments(
      directory,
      segments.filter((number) => number < needed),
    );
  } catch (error) {
    await newSegment.handle.close();
    throw error;
  }
  return newSegment;
}

/**
 * Returns the partition that takes these entries, or null if the partition or this lifetime of it
 * was dropped. Writes to a damaged file keep their segment until the file is dropped, because its
 * owner may yet restore a good file.
 */
function replayed(
  { keyspace, partition: number, life }: LogPartition,
  segment: number,
  registry: Registry,
): Partition | null {
  const partition = registry.get(keyspace, number);
  if (partition === undefined) return null;
  if (partition.damage !== null) {
    partition.dirtySegment = Math.min(partition.dirtySegment, segment);
    return null;
  }
  return partition.life === life ? partition : null;
}
