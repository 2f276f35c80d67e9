// The way of a changed state, barrier or floor into the log: as durable as a write, and no dearer.
import { CodedError } from '@ringwright/base/coded-error';
import type { MarksChange } from './file/marks-change.ts';
import type { Partition } from './file/partition.ts';
import type { WriteOutcome } from './file/record.ts';
import { checkOpen, type StoreParts } from './parts/store-parts.ts';

/**
 * Shown and durable when it resolves; of several the last one called wins. It needs no room beyond
 * the reserve: what frees a full disk begins with a change. Rejects with PARTITION_ABSENT,
 * PARTITION_DAMAGED, STORE_FAILED.
 */
export function changeMarks(
  parts: StoreParts,
  partition: Partition,
  change: Partial<MarksChange>,
): Promise<void> {
  const { keyspace, partition: number } = partition;
  return new Promise((resolve, reject) => {
    checkOpen(parts);
    if (partition.damage !== null) throw partition.damage;
    const outcomes: WriteOutcome[] = [{ kind: 'absent' }];
    const answer = ([outcome]: readonly WriteOutcome[]): void => {
      if (outcome?.kind !== 'absent') return resolve();
      reject(new CodedError('PARTITION_ABSENT', `${keyspace}/${number} was dropped`));
    };
    const call = { outcomes, waiting: 1, resolve: answer, reject };
    const whole = { state: null, barrierMs: 0, floorMs: 0, ...change };
    parts.log.append({ change: whole }, { partition, call, index: 0 });
  });
}
