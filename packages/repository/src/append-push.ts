// Notes in the log that a version was pushed to servers.
import { assert } from '@ringwright/base/assert';
import { printBuilderFile } from './builder-file.ts';
import { replaceDurably } from './durable-file.ts';
import type { LogEntry } from './log-entry.ts';
import { extendLog, type Head } from './read-log.ts';
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
  await writeRing(place, entry, async ({ folder, file, log }) => {
    const made = log.entries.find((one) => one.kind !== 'push' && one.id === pushed.id);
    assert(made?.version === pushed.version, `version ${pushed.version} is in the log`);
    const { version, id, parent } = made;
    const extended = extendLog(log, {
      ...entry,
      kind: 'push',
      version,
      id,
      parent,
      commands: [],
      moves: 0,
      figures: {},
    });
    await replaceDurably(folder.log, extended.text);
    const end = extended.hashes.at(-1) ?? null;
    await replaceDurably(folder.builder, printBuilderFile({ ...file, log: end }));
  });
}
