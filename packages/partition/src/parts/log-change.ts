// Logs a change of state, barrier or floor of a partition that has a file.
import { CodedError } from '@ringwright/base/coded-error';
import type { MarksChange } from '../file/marks-change.ts';
import type { Partition } from '../file/partition.ts';
import type { WriteOutcome } from '../file/record.ts';
import { checkOpen, type StoreParts } from './store-parts.ts';

/** Rejects like changeMarks, which is for callers that do not know if the partition has a file. */
export function logChange(
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
