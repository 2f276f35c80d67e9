// Counts the expired records of a partition, one range of the expiry index per turn.
import { setImmediate } from 'node:timers/promises';
import type { Partition } from './file/partition.ts';
import type { PartitionFile } from './file/partition-file.ts';
import { statements } from './file/partition-statements.ts';
import type { StoreParts } from './store/store-parts.ts';
import { withFile } from './store/use-partition.ts';

/**
 * Index entries per turn: 1.5 us for each lookup in the table. More if many records expire in the
 * same millisecond.
 */
const ROWS_PER_TURN = 4_096;

/** Counts the records with a value that have expired by `nowMs` and are still in the file. */
export async function countExpired(
  parts: StoreParts,
  partition: Partition,
  nowMs: number,
): Promise<number> {
  const { file, incarnation, closedWithoutExpiry } = partition;
  if (file === null && closedWithoutExpiry === incarnation) return 0; // it need not be opened
  let count = 0;
  for (let afterMs = 0; afterMs < nowMs; ) {
    const from = afterMs;
    const stretch = withFile(parts, partition, (file) => countStretch(file, from, nowMs));
    count += stretch.count;
    afterMs = stretch.endsMs;
    if (afterMs < nowMs) await setImmediate();
  }
  return count;
}

function countStretch(
  { expiring, sql }: PartitionFile,
  afterMs: number,
  nowMs: number,
): { readonly count: number; readonly endsMs: number } {
  if (!expiring.any) return { count: 0, endsMs: nowMs };
  const endsMs = sql.of(statements.expiryAt).get(afterMs, nowMs, ROWS_PER_TURN) ?? nowMs;
  return { count: sql.of(statements.expired).get(afterMs, endsMs) ?? 0, endsMs };
}
