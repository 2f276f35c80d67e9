// The line that makes a change part of the history: for all first, where the head is shared, then
// in this folder.
import { replaceDurably } from '@ringwright/node/durable-files';
import type { LogEntry } from './folder/log-entry.ts';
import { extendLog, type RingLog } from './folder/read-log.ts';
import { type PublishStep, publishHead } from './shared/publish-head.ts';
import type { WritableRing } from './write-ring.ts';

/**
 * Returns the log with the entry. In a shared history the entry names its transaction. Throws what
 * publishHead throws; then the log is what it was.
 */
export async function appendLog(
  { folder, log, shared }: WritableRing,
  entry: Omit<LogEntry, 'previous'>,
  publishing: {
    /** Versions whose files the entry is about. */
    readonly changed: readonly number[];
    readonly afterStep?: ((step: PublishStep) => void) | undefined;
  },
): Promise<RingLog> {
  if (shared === null) {
    const extended = extendLog(log, entry);
    await replaceDurably(folder.log, extended.text);
    return extended;
  }
  const details = { ...entry.details, transaction: shared.transaction };
  const extended = extendLog(log, { ...entry, details });
  await publishHead(folder, shared, { ...publishing, log: extended });
  await replaceDurably(folder.log, extended.text);
  return extended;
}
