// Notes in the log that a version was pushed to servers.
import { appendNote } from './append-note.ts';
import type { LogEntry } from './folder/log-entry.ts';
import type { Head } from './folder/read-log.ts';
import { writeRing } from './write-ring.ts';

/**
 * Adds an entry of kind `push` for a committed version; `details` says what the servers answered.
 * Throws RING_UNKNOWN, LOCK_HELD. A crash leaves the entry there or not, and nothing else changed.
 */
export async function appendPush(
  place: { readonly rings: string; readonly ring: string },
  pushed: Head,
  entry: Pick<LogEntry, 'time' | 'user' | 'message' | 'details'>,
): Promise<void> {
  await writeRing(place, entry, (ring) =>
    appendNote(ring, pushed, { ...entry, kind: 'push', commands: [] }),
  );
}
