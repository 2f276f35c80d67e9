// A note in the log about a version that is there: it was pushed, older ones were pruned.
import { assert } from '@ringwright/base/assert';
import { replaceDurably } from '@ringwright/node/durable-files';
import { appendLog } from './append-log.ts';
import { printBuilderFile } from './folder/builder-file.ts';
import { type LogEntry, makesVersion } from './folder/log-entry.ts';
import type { Head } from './folder/read-log.ts';
import { type WritableRing, writeRing } from './write-ring.ts';

export type Note = Pick<LogEntry, 'time' | 'user' | 'message' | 'details' | 'kind' | 'commands'>;

/**
 * Adds the note for a committed version: `details` of a `push` says what the servers answered, of
 * `moves` which moves, or which rate. Throws RING_UNKNOWN, LOCK_HELD. A crash leaves the entry
 * there or not, and nothing else changed.
 */
export async function noteVersion(
  place: { readonly rings: string; readonly ring: string },
  head: Head,
  note: Note,
): Promise<void> {
  await writeRing(place, note, (ring) => appendNote(ring, head, note));
}

/** Adds the note to the log and lets builder.json follow; the lock is held by the caller. */
export async function appendNote(writable: WritableRing, head: Head, entry: Note): Promise<void> {
  assert(!makesVersion(entry), `an entry of kind ${entry.kind} is no note`);
  const { folder, file, log } = writable;
  const made = log.entries.find((one) => makesVersion(one) && one.id === head.id);
  assert(made?.version === head.version, `version ${head.version} is in the log`);
  const { version, id, parent } = made;
  const noted = { ...entry, version, id, parent, moves: 0, figures: {} };
  const changed = entry.kind === 'sign' ? [version] : [];
  const extended = await appendLog(writable, noted, { changed });
  const end = extended.hashes.at(-1) ?? null;
  await replaceDurably(folder.builder, printBuilderFile({ ...file, log: end }));
}
