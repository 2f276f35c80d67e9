// A note in the log about a version that is there: it was pushed, older ones were pruned.
import { assert } from '@ringwright/base/assert';
import { printBuilderFile } from './builder-file.ts';
import { replaceDurably } from './durable-file.ts';
import { type LogEntry, makesVersion } from './log-entry.ts';
import { extendLog, type Head } from './read-log.ts';
import type { WritableRing } from './write-ring.ts';

/** Adds the note to the log and lets builder.json follow; the lock is held by the caller. */
export async function appendNote(
  { folder, file, log }: WritableRing,
  about: Head,
  entry: Pick<LogEntry, 'time' | 'user' | 'message' | 'details' | 'kind' | 'commands'>,
): Promise<void> {
  assert(!makesVersion(entry), `an entry of kind ${entry.kind} is no note`);
  const made = log.entries.find((one) => makesVersion(one) && one.id === about.id);
  assert(made?.version === about.version, `version ${about.version} is in the log`);
  const { version, id, parent } = made;
  const extended = extendLog(log, { ...entry, version, id, parent, moves: 0, figures: {} });
  await replaceDurably(folder.log, extended.text);
  const end = extended.hashes.at(-1) ?? null;
  await replaceDurably(folder.builder, printBuilderFile({ ...file, log: end }));
}
