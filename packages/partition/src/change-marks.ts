// The way of a changed state, barrier or floor into the log: it is as durable as a write and costs
// no more.
import type { MarksChange } from './file/marks-change.ts';
import { isEmpty, type Partition } from './file/partition.ts';
import { logChange } from './parts/log-change.ts';
import { checkOpen, type StoreParts } from './parts/store-parts.ts';

/**
 * Shown and durable when it resolves; of several the last one called wins. It needs no room beyond
 * the reserve: what frees a full disk begins with a change. Rejects with PARTITION_ABSENT,
 * PARTITION_DAMAGED, STORE_FAILED.
 */
export async function changeMarks(
  parts: StoreParts,
  partition: Partition,
  change: Partial<MarksChange>,
): Promise<void> {
  if (await changeEmpty(parts, partition, change)) return;
  await logChange(parts, partition, change);
}

/** A state alone makes no file. False when it must go to the log: see DESIGN.md. */
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
  // A write has come meanwhile, to a file, or to memory, with the state of before.
  if (!isEmpty(partition) || partition.gone || infoWhenClosed === null) return false;
  partition.infoWhenClosed = { ...infoWhenClosed, state };
  parts.registry.touch(partition);
  return true;
}
