// One line of log.jsonl: who did what and when, chained by the SHA-256 of the line before. Pure.
import { canonicalJson, type Json } from '@ringwright/base/canonical-json';
import { parseJson, whyNotJson, windowsLineEnds } from '@ringwright/base/parse-json';
import { sha256 } from '@ringwright/base/sha256';
import { z } from 'zod';

const ringId = z.string().regex(/^[0-9a-f]{64}$/);

const logEntrySchema = z.strictObject({
  /** SHA-256 of the line before, without its newline; null on the first line. */
  previous: ringId.nullable(),
  /** ISO 8601, UTC. */
  time: z.iso.datetime(),
  user: z.string(),
  message: z.string(),
  /**
   * `commit`: staged changes became a version. `advance`: moves took a step. `restore`: the history
   * begins anew with a version from elsewhere. Notes on a version: `push`: servers know it. `sign`:
   * key `details.signer` signed it. `prune`: the files of `details.from` to `details.through` were
   * removed. `moves`: servers were told to pause its moves, to change the copy rate, and the like.
   */
  kind: z.enum(['commit', 'advance', 'restore', 'push', 'sign', 'prune', 'moves']),
  version: z.int().positive(),
  id: ringId,
  parent: ringId.nullable(),
  /** Staged commands as typed. */
  commands: z.array(z.string()),
  /**
   * SHA-256 of the changes that these commands staged, as in the version's file. Absent if nothing
   * was staged, and in lines of older releases.
   */
  staged: ringId.optional(),
  /** Slots that change their device in this version. */
  moves: z.int().nonnegative(),
  figures: z.record(z.string(), z.number()),
  /** Further details, such as the answers to a push; plain JSON. */
  details: z.record(z.string(), z.json()),
});

export type LogEntry = z.infer<typeof logEntrySchema>;

/** Whether the entry made its version. Notes are about a version that another entry made. */
export function makesVersion({ kind }: Pick<LogEntry, 'kind'>): boolean {
  return kind === 'commit' || kind === 'advance' || kind === 'restore';
}

/** Whether the log has the entry that made the version. */
export function hasVersion(entries: readonly LogEntry[], id: string): boolean {
  return entries.some((entry) => makesVersion(entry) && entry.id === id);
}

/**
 * Whether servers know the version from this entry on. Servers learn of a shared head when it
 * moves. A restored version comes from servers, or from a file that servers may have had.
 */
export function reachesServers({ kind, details }: Pick<LogEntry, 'kind' | 'details'>): boolean {
  return kind === 'push' || kind === 'restore' || typeof details['transaction'] === 'string';
}

/**
 * Returns the line of an entry without newline, in canonical form: equal entries give equal bytes.
 */
export function logLine(entry: LogEntry): string {
  // The type of z.json() is wider than its values.
  return canonicalJson(entry as unknown as Json);
}

export function lineHash(line: string): string {
  return sha256(line);
}

/** Returns the entry of a line, or a sentence that says why it is invalid. */
export function parseLogLine(line: string): LogEntry | string {
  let value: unknown;
  try {
    value = parseJson(line, (cause) => new Error('no JSON', { cause }));
  } catch {
    // Two histories cannot be merged: later commands say which of them the servers have.
    return whyNotJson(line);
  }
  const parsed = logEntrySchema.safeParse(value);
  if (!parsed.success) return z.prettifyError(parsed.error).replaceAll('\n', ' ');
  if (line.endsWith('\r')) return windowsLineEnds;
  return logLine(parsed.data) === line ? parsed.data : 'is not a log line in canonical form';
}

export interface Pruning {
  readonly from: number;
  readonly through: number;
  /** The folder to which the files were copied first, by its name at the time; null if none. */
  readonly archive: string | null;
}

/**
 * Returns the note that pruned a version's file, or null if the file was not pruned. A prune that
 * was killed behind its note is typed again, perhaps with another archive: the last one that is
 * named has the file.
 */
export function pruningOf(entries: readonly LogEntry[], version: number): Pruning | null {
  let found: Pruning | null = null;
  for (const { kind, details } of entries) {
    if (kind !== 'prune') continue;
    const [from, through] = [Number(details['from']), Number(details['through'])];
    const archive = typeof details['archive'] === 'string' ? details['archive'] : null;
    const isCovered = from <= version && version <= through;
    if (isCovered && (found === null || archive !== null)) found = { from, through, archive };
  }
  return found;
}
