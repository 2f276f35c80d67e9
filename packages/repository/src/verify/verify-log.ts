// Checks log.jsonl without stopping at the first fault. Pure.
import type { Finding } from '@ringwright/base/finding';
import { type LogEntry, lineHash, makesVersion, parseLogLine } from '../folder/log-entry.ts';
import { logLines } from '../folder/read-log.ts';

export interface VerifiedLog {
  /** Readable lines, in order. */
  readonly entries: readonly LogEntry[];
  readonly hashes: readonly string[];
  readonly findings: readonly Finding[];
}

/**
 * Checks that every line is readable and chained, with the next version and the last id as parent.
 */
export function verifyLog(text: string): VerifiedLog {
  const entries: LogEntry[] = [];
  const hashes: string[] = [];
  const findings: Finding[] = [];
  const report = (code: string, line: number, sentence: string): void => {
    findings.push({ code, message: `log.jsonl line ${line}: ${sentence}`, details: { line } });
  };
  for (const [index, line] of logLines(text).entries()) {
    const number = index + 1;
    const entry = parseLogLine(line);
    const previous = hashes.at(-1) ?? null;
    hashes.push(lineHash(line));
    if (typeof entry === 'string') {
      report('LOG_LINE_INVALID', number, entry);
      continue;
    }
    if (entry.previous !== previous) {
      const sentence = `names ${entry.previous} as the previous line, which is ${previous}`;
      report('LOG_CHAIN_BROKEN', number, sentence);
    }
    const wrong = wrongSuccession(entries, entry);
    if (wrong !== null) report('LOG_VERSION_WRONG', number, wrong);
    entries.push(entry);
  }
  return { entries, hashes, findings };
}

function wrongSuccession(before: readonly LogEntry[], entry: LogEntry): string | null {
  const versions = before.filter(makesVersion);
  if (!makesVersion(entry)) {
    const maker = versions.find((one) => one.version === entry.version);
    if (maker?.id === entry.id) return null;
    return `is a ${entry.kind} of version ${entry.version} as ${entry.id}, made as ${maker?.id ?? 'none'}`;
  }
  if (entry.kind === 'restore') return before.length === 0 ? null : 'restores after other entries';
  const last = versions.at(-1);
  const expectedVersion = (last?.version ?? 0) + 1;
  if (entry.version !== expectedVersion)
    return `makes version ${entry.version}, but the next one is ${expectedVersion}`;
  const parent = last?.id ?? null;
  return entry.parent === parent ? null : `has parent ${entry.parent}, but the head was ${parent}`;
}
