// One line of log.jsonl: who did what when, chained by the SHA-256 of the line before. Pure.
import { canonicalJson, type Json } from '@ringwright/base/canonical-json';
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
   * `commit`: changes became a version; `advance`: moves took a step; `restore`: the history begins
   * anew with a version from elsewhere. Notes on a version: `push`: servers know it; `sign`: key
   * `details.signer` signed it; `prune`: the files of `details.from` to `details.through` are gone;
   * `moves`: servers were told to pause its moves, at which rate to copy, and the like.
   */
  kind: z.enum(['commit', 'advance', 'restore', 'push', 'sign', 'prune', 'moves']),
  version: z.int().positive(),
  id: ringId,
  parent: ringId.nullable(),
  /** Staged commands as typed. */
  commands: z.array(z.string()),
  /**
   * SHA-256 of the changes that these commands staged, as the version's file holds them; absent
   * when nothing was staged, and in lines from before it was noted.
   */
  staged: ringId.optional(),
  /** Slots that change device by this version. */
  moves: z.int().nonnegative(),
  figures: z.record(z.string(), z.number()),
  /** What a push was answered and the like; plain JSON. */
  details: z.record(z.string(), z.json()),
});

export type LogEntry = z.infer<typeof logEntrySchema>;

/** Notes are about a version that another entry made. */
export function makesVersion({ kind }: Pick<LogEntry, 'kind'>): boolean {
  return kind === 'commit' || kind === 'advance' || kind === 'restore';
}

/**
 * Servers know the version from then on: of a shared head they are told when it moves, and a
 * restored one comes from servers, or from a file that servers may have had.
 */
export function reachesServers({ kind, details }: Pick<LogEntry, 'kind' | 'details'>): boolean {
  return kind === 'push' || kind === 'restore' || typeof details['transaction'] === 'string';
}

/** The line of an entry, without newline: one spelling, so that equal entries give equal bytes. */
export function logLine(entry: LogEntry): string {
  // z.json() is wider in its types than it is in its values.
  return canonicalJson(entry as unknown as Json);
}

export function lineHash(line: string): string {
  return sha256(line);
}

/** The entry of a line, or a sentence that says why it is none. */
export function parseLogLine(line: string): LogEntry | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'is not JSON';
  }
  const parsed = logEntrySchema.safeParse(value);
  if (!parsed.success) return z.prettifyError(parsed.error).replaceAll('\n', ' ');
  return logLine(parsed.data) === line ? parsed.data : 'is not in the one spelling of a log line';
}

export interface Pruning {
  readonly from: number;
  readonly through: number;
  /** Folder the files were copied to before, as it was named then; null when they were not. */
  readonly archive: string | null;
}

export function pruningOf(entries: readonly LogEntry[], version: number): Pruning | null {
  for (const { kind, details } of entries) {
    if (kind !== 'prune') continue;
    const [from, through] = [Number(details['from']), Number(details['through'])];
    const archive = typeof details['archive'] === 'string' ? details['archive'] : null;
    if (from <= version && version <= through) return { from, through, archive };
  }
  return null;
}
