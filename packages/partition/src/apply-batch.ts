// Applies a batch once it is durable in the log: its writes become readable, and their calls
// resolve.
import { heldWalBytesMax } from '@ringwright/base/limits-copies';
import { applyWrites } from './log/apply-writes.ts';
import { checkpointPartition } from './log/checkpointer.ts';
import type { LogBatch, WriteCall } from './log/log-batch.ts';
import type { StoreParts } from './parts/store-parts.ts';

/** Batches must arrive in log order. */
export function applyBatch(parts: StoreParts, batch: LogBatch): void {
  const { files, limits, memtables, registry, checkpointer, fail } = parts;
  // Calls resolve at the end: a caller may do anything, even throw, and must not find the store
  // half-way through a batch.
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
      // Above the hard limit the disk does not keep up, so the writers wait for it.
      if (partition.file.wal.exceeds(heldWalBytesMax)) checkpointPartition(files, partition);
      else checkpointer.request(partition);
    }
  } catch (error) {
    fail(error);
    for (const { call } of batch.entries) if (!done.includes(call)) call.reject(parts.failure);
  }
  for (const call of done) call.resolve(call.outcomes);
}
