// Which versions' files were taken out of the folder on purpose, by what the log says. Pure.
import type { LogEntry } from './log-entry.ts';

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
