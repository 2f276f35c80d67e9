// Notes in the log of what operators told servers about the moves of a version.
import { appendNote } from './append-note.ts';
import type { LogEntry } from './folder/log-entry.ts';
import type { Head } from './folder/read-log.ts';
import { writeRing } from './write-ring.ts';

/**
 * Adds an entry of kind `moves` for a committed version; `details` says which moves, or which rate.
 * Throws RING_UNKNOWN, LOCK_HELD. A crash leaves the entry there or not, and nothing else changed.
 */
export async function noteMoves(
  place: { readonly rings: string; readonly ring: string },
  head: Head,
  entry: Pick<LogEntry, 'time' | 'user' | 'message' | 'details' | 'commands'>,
): Promise<void> {
  await writeRing(place, entry, (ring) => appendNote(ring, head, { ...entry, kind: 'moves' }));
}
