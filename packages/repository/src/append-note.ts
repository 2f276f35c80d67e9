// A note in the log about a version that is there: it was pushed, older ones were pruned.
import { assert } from '@ringwright/base/assert';
import { replaceDurably } from '@ringwright/node/durable-files';
import { appendLog } from './append-log.ts';
import { printBuilderFile } from './folder/builder-file.ts';
import { type LogEntry, makesVersion } from './folder/log-entry.ts';
import type { Head } from './folder/read-log.ts';
import type { WritableRing } from './write-ring.ts';

/** Adds the note to the log and lets builder.json follow; the lock is held by the caller. */
export async function appendNote(
  writable: WritableRing,
  head: Head,
  entry: Pick<LogEntry, 'time' | 'user' | 'message' | 'details' | 'kind' | 'commands'>,
): Promise<void> {
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
