// Opens a ring's folder for reading: state, staged changes, head. It never writes.

import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Staged } from '@ringwright/builder/state/change';
import { readRegularText } from '@ringwright/node/read-regular-file';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import {
  type BuilderFile,
  parseBuilderFile,
  stagedChanges,
  stagedDigest,
} from './folder/builder-file.ts';
import type { LogEntry } from './folder/log-entry.ts';
import { headOf, lastVersionEntry, type RingLog, readRingLog } from './folder/read-log.ts';
import { readVersionFile, requireLogged } from './folder/read-version.ts';
import { requireFolderOf, requireRing } from './folder/require-ring.ts';
import { type RingFolder, versionPath } from './folder/ring-folder.ts';
import { stagedDigestOf, stagedSections } from './folder/staged-section.ts';

export interface OpenedRing {
  readonly ring: string;
  /** As of the head; staged changes are not applied. */
  readonly state: BuilderState;
  readonly staged: readonly Staged[];
  /** Identity of the staged changes, for commitVersion. */
  readonly stagedDigest: string;
  readonly head: VersionId | null;
  readonly entries: readonly LogEntry[];
}

/**
 * Returns state, staged changes and head. Throws RING_UNKNOWN, RING_LOG_DAMAGED,
 * BUILDER_FILE_INVALID, RING_FOREIGN, and RING_FILE_INVALID where builder.json is behind.
 */
export async function openRing(rings: string, ring: string): Promise<OpenedRing> {
  const folder = await requireRing(rings, ring);
  const { file, log } = await readFolder(folder);
  return {
    ring,
    state: file.state,
    staged: file.staged,
    stagedDigest: stagedDigest(file.staged),
    head: file.head,
    entries: log.entries,
  };
}

interface FolderContent {
  /** Completed in memory if a crash left builder.json behind the log. */
  readonly file: BuilderFile;
  readonly log: RingLog;
  /** Whether builder.json on disk is behind the log. */
  readonly behind: boolean;
}

/**
 * Reads log and builder.json. builder.json is written last, so it may be behind the log but never
 * ahead.
 */
export async function readFolder(folder: RingFolder): Promise<FolderContent> {
  // A commit between the two reads makes builder.json look ahead. Then the log is read again.
  for (let attempt = 0; ; attempt += 1) {
    const log = await readRingLog(folder);
    const file = await readBuilderFile(folder);
    const lastHash = log.hashes.at(-1) ?? null;
    if (file.log === lastHash) {
      const head = headOf(log.entries);
      const isSame = head?.id === file.head?.id && head?.version === file.head?.version;
      if (isSame) return { file, log, behind: false };
      throw disagree(folder, file, log);
    }
    const isKnown = file.log === null || log.hashes.includes(file.log);
    if (isKnown) return { file: await complete(folder, file, log), log, behind: true };
    if (attempt === 3) throw disagree(folder, file, log);
  }
}

export async function readBuilderFile(folder: RingFolder): Promise<BuilderFile> {
  const file = parseBuilderFile(await readRegularText(folder.builder));
  if (typeof file !== 'string') {
    requireFolderOf(folder, file.state.ring);
    return file;
  }
  throw new CodedError('BUILDER_FILE_INVALID', `${folder.builder} ${file}`, {
    hint:
      'if a newer ring-builder wrote it, use that one; otherwise restore it from git, then: ' +
      `ring-builder verify ${folder.ring}`,
    details: { ring: folder.ring, path: folder.builder },
  });
}

/** Returns the builder.json that the last command would have written had it not been stopped. */
async function complete(folder: RingFolder, file: BuilderFile, log: RingLog): Promise<BuilderFile> {
  const doneCount = log.hashes.indexOf(file.log ?? '') + 1;
  const missed = log.entries.slice(doneCount);
  const last = lastVersionEntry(missed);
  const lastHash = log.hashes.at(-1) ?? null;
  if (last === null) return { ...file, head: headOf(log.entries), log: lastHash };
  const version = await readVersionFile(folder, last.version);
  requireLogged(version, last, { ring: folder.ring, path: versionPath(folder, last.version) });
  const committed = missed.find((entry) => entry.kind === 'commit');
  if (committed !== undefined) requireSameChanges(folder, file, committed);
  return {
    head: { version: last.version, id: last.id },
    log: lastHash,
    state: version.state ?? file.state,
    staged: committed !== undefined ? [] : file.staged,
  };
}

/**
 * Throws STAGED_ON_OLD_HEAD if the staged changes are not those that were committed. After a crash
 * the committed changes are still staged. Other changes mean that this builder.json comes from a
 * copy of the folder in which changes were staged on an older head.
 */
function requireSameChanges(folder: RingFolder, file: BuilderFile, committed: LogEntry): void {
  const commands = file.staged.map(({ command }) => command);
  if (file.staged.every(({ changes }) => changes.length === 0)) return;
  const digest = stagedDigestOf(stagedSections(stagedChanges(file.staged)));
  const sameContent = committed.staged === undefined || committed.staged === digest;
  if (sameContent && commands.join('\n') === committed.commands.join('\n')) return;
  const { ring } = folder;
  const base = file.head === null ? 'no version' : `version ${file.head.version}`;
  const newerCommit = `${committed.user} has committed version ${committed.version} since`;
  throw new CodedError(
    'STAGED_ON_OLD_HEAD',
    `changes of ${ring} were staged on ${base}; ${newerCommit}`,
    {
      hint: `ring-builder rebase ${ring} stages them again on the new head`,
      details: { ring, base: file.head, staged: commands, committed: committed.version },
    },
  );
}

function disagree(folder: RingFolder, file: BuilderFile, log: RingLog): CodedError {
  const lastHash = log.hashes.at(-1);
  const logEndText =
    lastHash === undefined ? 'has no line' : `ends in ${lastHash}, line ${log.entries.length}`;
  const message = `${folder.builder} follows log line ${file.log}, but ${folder.log} ${logEndText}`;
  return new CodedError('RING_LOG_DAMAGED', message, {
    hint: `ring-builder verify ${folder.ring} lists all findings; restore the files from git`,
    details: { ring: folder.ring, builder: file.log, log: log.hashes.at(-1) ?? null },
  });
}
