// Counts the expired records of a partition, one range of the expiry index per turn.
import { setImmediate } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import type { Partition } from './file/partition.ts';
import type { PartitionFile } from './file/partition-file.ts';
import { statements } from './file/partition-statements.ts';
import type { StoreParts } from './store/store-parts.ts';
import { withFile } from './store/use-partition.ts';

/** Index entries per turn: 1.5 us for each lookup in the table. */
const ROWS_PER_TURN = 4_096;

/**
 * The next record in expiry order is behind this one: it expires later, or at the same time with a
 * higher sequence. `seq` null: all that expire at `ms` are counted.
 */
interface Position {
  readonly ms: number;
  readonly seq: number | null;
}

/** Counts the records with a value that have expired by `nowMs` and are still in the file. */
export async function countExpired(
  parts: StoreParts,
  partition: Partition,
  nowMs: number,
): Promise<number> {
  const { file, incarnation, closedWithoutExpiry } = partition;
  if (file === null && closedWithoutExpiry === incarnation) return 0; // it need not be opened
  let count = 0;
  for (let at: Position | null = { ms: 0, seq: null }; at !== null; ) {
    const from: Position = at;
    const stretch = withFile(parts, partition, (file) => countStretch(file, from, nowMs));
    count += stretch.count;
    at = stretch.next;
    if (at !== null) await setImmediate();
  }
  return count;
}

function countStretch(
  { expiring, sql }: PartitionFile,
  { ms, seq }: Position,
  nowMs: number,
): { readonly count: number; readonly next: Position | null } {
  if (!expiring.any) return { count: 0, next: null };
  const expiredIn = (afterMs: number, endsMs: number): number =>
    sql.of(statements.expired).get(afterMs, endsMs) ?? 0;
  if (seq === null) {
    const endsMs = sql.of(statements.expiryAt).get(ms, nowMs, ROWS_PER_TURN);
    if (endsMs === undefined) return { count: expiredIn(ms, nowMs), next: null };
    // More than fit into a turn may expire at `endsMs`.
    return { count: expiredIn(ms, endsMs - 1), next: { ms: endsMs, seq: 0 } };
  }
  const found = sql.of(statements.expiredTogether).get(ms, seq, ROWS_PER_TURN);
  const [count, last] = must(found, 'a sum has a row');
  return { count, next: { ms, seq: last } };
}
