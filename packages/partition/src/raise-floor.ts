// Drops tombstones that are no longer needed. One mark, the floor, stands for all of them.
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { partitionName } from './file/data-paths.ts';
import type { Partition } from './file/partition.ts';
import type { PartitionFile } from './file/partition-file.ts';
import type { PartitionInfo } from './file/partition-info.ts';
import { changeMarks } from './store/change-marks.ts';
import type { StoreParts } from './store/store-parts.ts';
import { withFile } from './store/use-partition.ts';

/** Most rows examined per turn: 4 us each for 1 KB rows, 20 us each where all are removed. */
const ROWS_PER_TURN = 1_024;

/**
 * The floor is durable before the first tombstone goes. So a crash in between leaves both, which
 * mean the same, and the next call drops the rest. The floor is in the log, and in the file it is
 * committed in an earlier transaction than the first removal: frames replayed later find the floor
 * in every file that lacks a tombstone. Resolves to false when nothing was left to do.
 */
export async function raiseFloor(
  parts: StoreParts,
  partition: Partition,
  ms: number,
): Promise<boolean> {
  // A floor of 0 covers no tombstone.
  if (ms === 0) return false;
  return parts.mutex.run(partitionName(partition), async () => {
    const { purgedFloor: dropped, incarnation } = partition;
    if (dropped?.incarnation === incarnation && dropped.floorMs >= ms) return false;
    const use = <T>(work: (file: PartitionFile) => T): T => withFile(parts, partition, work);
    const infoBefore = use((file) => file.info());
    requireBelowBarrier(infoBefore, ms);
    await changeMarks(parts, partition, { floorMs: ms });
    // failpoint: floor.raised
    use((file) => file.promises.endUpTo(ms));
    for (let after: number | null = 0; after !== null; ) {
      const from: number = after;
      // Otherwise this thread would wait for the disk, and a copy of the file would be cut short.
      const isDue = use(({ wal }) => wal.isAside || wal.exceeds(parts.limits.walBytesMax));
      if (isDue) await parts.checkpointer.request(partition);
      after = use((file) => file.dropTombstones(from, ROWS_PER_TURN));
      await setImmediate();
    }
    partition.purgedFloor = { incarnation, floorMs: ms };
    return infoBefore.floorMs < ms || use((file) => file.info()).digest !== infoBefore.digest;
  });
}

function requireBelowBarrier({ barrierMs }: PartitionInfo, ms: number): void {
  if (ms <= barrierMs) return;
  throw new CodedError('VALUE_OUT_OF_RANGE', `floor ${ms} is above the barrier ${barrierMs}`, {
    details: { ms, barrierMs },
  });
}
