// Reading log.jsonl: all entries, chain checked; the head is its last version entry.
import { CodedError } from '@ringwright/base/coded-error';
import { onlyMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import { parseBuilderFile } from './builder-file.ts';
import { type LogEntry, lineHash, logLine, makesVersion, parseLogLine } from './log-entry.ts';
import { requireRing } from './require-ring.ts';
import { type RingFolder } from './ring-folder.ts';

export interface Head {
  readonly version: number;
  readonly id: string;
}

export interface RingLog {
  /** The file as it is; empty when there is none yet. */
  readonly text: string;
  readonly entries: readonly LogEntry[];
  /** SHA-256 of each line, in the order of the entries. */
  readonly hashes: readonly string[];
}

/** All entries, oldest first. Throws NAME_INVALID, RING_UNKNOWN, RING_LOG_DAMAGED. */
export async function readLog(rings: string, ring: string): Promise<readonly LogEntry[]> {
  const folder = await requireRing(rings, ring);
  return readEntries(folder);
}

/**
 * The same of a folder that is known to be there. A ring without a version has no log; one whose
 * builder.json names a line has lost it.
 */
export async function readEntries(folder: RingFolder): Promise<readonly LogEntry[]> {
  const { entries } = await readRingLog(folder);
  if (entries.length > 0 || !(await hasLoggedLine(folder))) return entries;
  // The first commit may have come between the two reads.
  const again = (await readRingLog(folder)).entries;
  if (again.length > 0) return again;
  throw logDamaged(folder, 'no line is there, though builder.json follows one');
}

async function hasLoggedLine({ builder }: RingFolder): Promise<boolean> {
  const file = parseBuilderFile((await readRegularText(builder).catch(onlyMissing)) ?? '');
  return typeof file !== 'string' && file.log !== null;
}

/** Throws RING_LOG_DAMAGED on a line that cannot be read or is not chained to the one before. */
export async function readRingLog(folder: RingFolder): Promise<RingLog> {
  return parseRingLog(folder, (await readRegularText(folder.log).catch(onlyMissing)) ?? '');
}

/** The same of a log that is not in the folder yet. */
export function parseRingLog(folder: RingFolder, text: string): RingLog {
  const entries: LogEntry[] = [];
  const hashes: string[] = [];
  for (const [index, line] of logLines(text).entries()) {
    const entry = parseLogLine(line);
    if (typeof entry === 'string') throw logDamaged(folder, `line ${index + 1} ${entry}`);
    const previous = hashes.at(-1) ?? null;
    if (entry.previous !== previous) {
      const found = `names ${entry.previous} as the line before, which is ${previous}`;
      throw logDamaged(folder, `line ${index + 1} ${found}`);
    }
    entries.push(entry);
    hashes.push(lineHash(line));
  }
  return { text, entries, hashes };
}

/** Lines without their newlines. A text that does not end in one was cut: the last line is bad. */
export function logLines(text: string): string[] {
  if (text === '') return [];
  return text.endsWith('\n') ? text.slice(0, -1).split('\n') : [...text.split('\n'), ''];
}

/** The log with one entry more, chained to the last. */
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

export function headOf(entries: readonly LogEntry[]): Head | null {
  const last = lastVersionEntry(entries);
  return last === null ? null : { version: last.version, id: last.id };
}

/** The same of a ring that must have one. Throws RING_EMPTY. */
export function requireHead(ring: string, entries: readonly LogEntry[]): Head {
  const head = headOf(entries);
  if (head !== null) return head;
  throw new CodedError('RING_EMPTY', `ring ${ring} has no committed version yet`, {
    hint: `ring-builder status ${ring} names the next command: add, or plan and commit`,
    details: { ring },
  });
}

function logDamaged(folder: RingFolder, sentence: string): CodedError {
  return new CodedError('RING_LOG_DAMAGED', `${folder.log}: ${sentence}`, {
    hint: `ring-builder verify ${folder.ring} lists all findings; get the file back from git`,
    details: { ring: folder.ring, path: folder.log },
  });
}
