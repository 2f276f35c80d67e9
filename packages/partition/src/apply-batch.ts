// What happens to a batch once it is synced: its writes become readable, and their calls resolve.
import { heldWalBytesMax } from '@ringwright/base/limits-copies';
import { applyWrites } from './log/apply-writes.ts';
import { checkpointPartition } from './log/checkpointer.ts';
import type { LogBatch, WriteCall } from './log/log-batch.ts';
import type { StoreParts } from './parts/store-parts.ts';

/** Batches come in the order of the log. */
export function applyBatch(parts: StoreParts, batch: LogBatch): void {
  const { files, limits, memtables, registry, checkpointer, fail } = parts;
  // Told at the end: a caller may do anything, and fail, without the store being in the middle.
  const done: WriteCall[] = [];
  try {
    const touched = applyWrites(batch.entries, {
      files,
      segment: batch.segment,
      answer: ({ call, index }, outcome) => {
        call.outcomes[index] = outcome;
        call.waiting -= 1;
        if (call.waiting === 0) done.push(call);
      },
      refuse: ({ call }, error) => call.reject(error),
    });
    for (const partition of touched) registry.touch(partition);
    for (const partition of memtables.afterWrites(touched)) {
      if (!partition.file?.wal.exceeds(limits.walBytesMax)) continue;
      // The disk does not keep up: who writes waits for it.
      if (partition.file.wal.exceeds(heldWalBytesMax)) checkpointPartition(files, partition);
      else checkpointer.request(partition);
    }
  } catch (error) {
    fail(error);
    for (const { call } of batch.entries) if (!done.includes(call)) call.reject(parts.failure);
  }
  for (const call of done) call.resolve(call.outcomes);
}
