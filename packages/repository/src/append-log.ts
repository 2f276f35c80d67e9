// Appends the log line that makes a change part of the history: first in the head store, if the
// head is shared, then in this folder.

import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { replaceDurably } from '@ringwright/node/durable-files';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import { printBuilderFile } from './folder/builder-file.ts';
import { type LogEntry, makesVersion } from './folder/log-entry.ts';
import { extendLog, type RingLog } from './folder/read-log.ts';
import { type PublishStep, publishHead } from './shared/publish-head.ts';
import { type WritableRing, writeRing } from './write-ring.ts';

/**
 * Returns the log with the new entry. In a shared history the entry names its transaction. Throws
 * what publishHead throws; the log is then unchanged.
 */
export async function appendLog(
  { folder, log, shared }: WritableRing,
  entry: Omit<LogEntry, 'previous'>,
  publishing: {
    /** Versions whose files the entry concerns. */
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

/** A log entry about an existing version. */
export type Note = Pick<LogEntry, 'time' | 'user' | 'message' | 'details' | 'kind' | 'commands'>;

/**
 * Adds a note on a committed version: `details` of a `push` has the servers' answers, of `moves`
 * the moves or the rate. Throws RING_UNKNOWN, LOCK_HELD, HEAD_MOVED if the log has no such version.
 * After a crash the entry is there or not, and nothing else has changed.
 */
export async function noteVersion(
  location: { readonly rings: string; readonly ring: string },
  head: VersionId,
  note: Note,
): Promise<void> {
  await writeRing(location, note, (ring) => appendNote(ring, head, note));
}

/** Adds a note to the log and updates builder.json. The caller holds the lock. */
export async function appendNote(
  writable: WritableRing,
  head: VersionId,
  entry: Note,
): Promise<void> {
  assert(!makesVersion(entry), `an entry of kind ${entry.kind} is not a note`);
  const { folder, file, log } = writable;
  const versionEntry = log.entries.find((one) => makesVersion(one) && one.id === head.id);
  if (versionEntry === undefined) throw isGone(folder.ring, head);
  const { version, id, parent } = versionEntry;
  const noted = { ...entry, version, id, parent, moves: 0, figures: {} };
  const changed = entry.kind === 'sign' ? [version] : [];
  const extended = await appendLog(writable, noted, { changed });
  const lastHash = extended.hashes.at(-1) ?? null;
  await replaceDurably(folder.builder, printBuilderFile({ ...file, log: lastHash }));
}

/** A push or rollout takes long. Meanwhile git or a restore may have brought another history. */
function isGone(ring: string, head: VersionId): CodedError {
  const named = `version ${head.version} (${head.id.slice(0, 12)}) of ${ring}`;
  return new CodedError(
    'HEAD_MOVED',
    `${named} is no longer in the log: the ring has another history now`,
    {
      hint: `ring-builder log ${ring} shows the present history`,
      details: { ring, version: head.version, id: head.id },
    },
  );
}
