// Reads log.jsonl: all entries, with their chain checked. The head is the last version entry.

import { CodedError } from '@ringwright/base/coded-error';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import { parseBuilderFile } from './builder-file.ts';
import { type LogEntry, lineHash, logLine, makesVersion, parseLogLine } from './log-entry.ts';
import { requireRing } from './require-ring.ts';
import { type RingFolder } from './ring-folder.ts';

export interface RingLog {
  /** The text of the file; empty if there is none yet. */
  readonly text: string;
  readonly entries: readonly LogEntry[];
  /** SHA-256 of each line, in the order of the entries. */
  readonly hashes: readonly string[];
}

/** Returns all entries, oldest first. Throws NAME_INVALID, RING_UNKNOWN, RING_LOG_DAMAGED. */
export async function readLog(rings: string, ring: string): Promise<readonly LogEntry[]> {
  const folder = await requireRing(rings, ring);
  return readEntries(folder);
}

/**
 * As readLog, for a folder that is known to exist. A ring without versions has no log. If
 * builder.json names a log line, a missing log was lost.
 */
export async function readEntries(folder: RingFolder): Promise<readonly LogEntry[]> {
  const { entries } = await readRingLog(folder);
  if (entries.length > 0 || !(await hasLoggedLine(folder))) return entries;
  // The first commit may have happened between the two reads.
  const again = (await readRingLog(folder)).entries;
  if (again.length > 0) return again;
  throw logDamaged(folder, 'it has no lines, but builder.json refers to one');
}

async function hasLoggedLine({ builder }: RingFolder): Promise<boolean> {
  const file = parseBuilderFile((await readRegularText(builder).catch(nullIfMissing)) ?? '');
  return typeof file !== 'string' && file.log !== null;
}

/** Throws RING_LOG_DAMAGED for a line that is unreadable or not chained to the one before. */
export async function readRingLog(folder: RingFolder): Promise<RingLog> {
  return parseRingLog(folder, (await readRegularText(folder.log).catch(nullIfMissing)) ?? '');
}

/** Parses a log that is not in the folder yet. Throws as readRingLog. */
export function parseRingLog(folder: RingFolder, text: string): RingLog {
  const entries: LogEntry[] = [];
  const hashes: string[] = [];
  for (const [index, line] of logLines(text).entries()) {
    const entry = parseLogLine(line);
    if (typeof entry === 'string') throw logDamaged(folder, `line ${index + 1} ${entry}`);
    const previous = hashes.at(-1) ?? null;
    if (entry.previous !== previous) {
      const found = `names ${entry.previous} as the previous line, which is ${previous}`;
      throw logDamaged(folder, `line ${index + 1} ${found}`);
    }
    entries.push(entry);
    hashes.push(lineHash(line));
  }
  return { text, entries, hashes };
}

/**
 * Returns the lines without newlines. If the text does not end in a newline it was truncated, and
 * an empty line is added, which is invalid.
 */
export function logLines(text: string): string[] {
  if (text === '') return [];
  return text.endsWith('\n') ? text.slice(0, -1).split('\n') : [...text.split('\n'), ''];
}

/** Returns the log with one more entry, chained to the last. */
export function extendLog(log: RingLog, entry: Omit<LogEntry, 'previous'>): RingLog {
  const chained: LogEntry = { ...entry, previous: log.hashes.at(-1) ?? null };
  const line = logLine(chained);
  return {
    text: `${log.text}${line}\n`,
    entries: [...log.entries, chained],
    hashes: [...log.hashes, lineHash(line)],
  };
}

export function lastVersionEntry(entries: readonly LogEntry[]): LogEntry | null {
  return entries.findLast(makesVersion) ?? null;
}

export function headOf(entries: readonly LogEntry[]): VersionId | null {
  const last = lastVersionEntry(entries);
  return last === null ? null : { version: last.version, id: last.id };
}

/** As headOf, for a ring that must have a head. Throws RING_EMPTY. */
export function requireHead(ring: string, entries: readonly LogEntry[]): VersionId {
  const head = headOf(entries);
  if (head !== null) return head;
  throw new CodedError('RING_EMPTY', `ring ${ring} has no committed version yet`, {
    hint: `ring-builder status ${ring} names the next command: add, or plan and commit`,
    details: { ring },
  });
}

/** Both as far as they are known; null: no version. */
export function headMoved(
  ring: string,
  expected: VersionId | null,
  found: VersionId | null,
): CodedError {
  const [is, was] = [found, expected].map((head) =>
    head === null ? 'no version' : `version ${head.version} (${head.id.slice(0, 12)})`,
  );
  const message = `the head of ${ring} is ${is}, this was based on ${was}`;
  return new CodedError('HEAD_MOVED', message, {
    hint: `ring-builder status ${ring} shows the head and the next command`,
    details: { ring, expected, found },
  });
}

function logDamaged(folder: RingFolder, sentence: string): CodedError {
  return new CodedError('RING_LOG_DAMAGED', `${folder.log}: ${sentence}`, {
    hint: `ring-builder verify ${folder.ring} lists all findings; restore the file from git`,
    details: { ring: folder.ring, path: folder.log },
  });
}
