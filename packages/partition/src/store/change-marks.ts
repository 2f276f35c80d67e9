// Logs a changed state, barrier or floor: as durable as a write, at the same cost.
import { CodedError } from '@ringwright/base/coded-error';
import type { MarksChange } from '../file/marks-change.ts';
import { isEmpty, type Partition } from '../file/partition.ts';
import type { WriteOutcome } from '../file/record.ts';
import { checkOpen, type StoreParts } from './store-parts.ts';

/**
 * Durable and visible when it resolves; of concurrent calls, the last one wins. It needs no room
 * beyond the disk reserve, because freeing a full disk begins with such a change. Rejects with
 * PARTITION_ABSENT, PARTITION_DAMAGED, STORE_FAILED.
 */
export async function changeMarks(
  parts: StoreParts,
  partition: Partition,
  change: Partial<MarksChange>,
): Promise<void> {
  if (await changeEmpty(parts, partition, change)) return;
  await logChange(parts, partition, change);
}

/**
 * Changes the state of a partition without a file; a state alone creates none. Resolves to false
 * when the change must go to the log: see packages/partition/DESIGN.md.
 */
async function changeEmpty(
  parts: StoreParts,
  partition: Partition,
  { state = null, barrierMs = 0, floorMs = 0 }: Partial<MarksChange>,
): Promise<boolean> {
  checkOpen(parts);
  const empty = parts.empties.get(partition);
  const isOfState = state !== null && barrierMs === 0 && floorMs === 0;
  if (!isEmpty(partition) || empty === undefined || !isOfState) return false;
  await parts.empties.put({ ...empty, state }).catch(parts.fail);
  checkOpen(parts);
  const { infoWhenClosed } = partition;
  // A write arrived meanwhile, in a file or in memory, which still has the old state.
  if (!isEmpty(partition) || partition.isDropped || infoWhenClosed === null) return false;
  partition.infoWhenClosed = { ...infoWhenClosed, state };
  parts.registry.touch(partition);
  return true;
}

/** Of a partition with a file. Rejects as changeMarks. */
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
    const fullChange = { state: null, barrierMs: 0, floorMs: 0, ...change };
    parts.log.append({ change: fullChange }, { partition, call, index: 0 });
  });
}
