// A line of the audit log: who did what, when, chained to the line before by its hash. Pure.
import { assert } from '@ringwright/base/assert';
import { canonicalJson } from '@ringwright/base/canonical-json';
import type { Finding } from '@ringwright/base/finding';
import { auditLineBytesMax } from '@ringwright/base/limits-access';
import { sha256 } from '@ringwright/base/sha256';
import { z } from 'zod';

const lineSchema = z.strictObject({
  /** 1, 2, 3 … over all files. */
  seq: z.int().min(1),
  /** Milliseconds since 1970, by the server's clock. */
  ms: z.int(),
  /** access, refused, ring, trust, start, lost, or the method of an operator's message. */
  kind: z.string(),
  /** A token, a peer, or where somebody came from. */
  who: z.string(),
  what: z.string(),
  /** SHA-256 of the line before. */
  prev: z.string().regex(/^[0-9a-f]{64}$/),
});

export type AuditLine = z.infer<typeof lineSchema>;
export type AuditEvent = Pick<AuditLine, 'kind' | 'who' | 'what'>;

/** Where a log begins. */
export const auditStart = { seq: 0, hash: '0'.repeat(64) };

export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** Characters of each, of which JSON makes six times as many bytes at most. */
const shown = { kind: 32, who: 72, what: 190 };

const FURTHER_BYTES_MAX = 160;

assert(
  6 * (shown.kind + shown.who + shown.what) + FURTHER_BYTES_MAX <= auditLineBytesMax,
  'a line has no more bytes than it may have',
);

export function printLine(event: AuditEvent, ms: number, head: AuditHead): string {
  const { kind, who, what } = event;
  const about = {
    kind: kind.slice(0, shown.kind),
    who: who.slice(0, shown.who),
    what: what.slice(0, shown.what),
  };
  return canonicalJson({ ...about, ms, seq: head.seq + 1, prev: head.hash });
}

/** Null: this is no line. */
export function parseLine(text: string): AuditLine | null {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

export function headAfter(text: string, line: Pick<AuditLine, 'seq'>): AuditHead {
  return { seq: line.seq, hash: sha256(text) };
}

/**
 * What is wrong in lines that follow each other, oldest first. The first one may follow lines that
 * are kept no more, and what was cut off at the end cannot be seen here.
 */
export function checkChain(lines: readonly string[]): Finding[] {
  const findings: Finding[] = [];
  let head: AuditHead | null = null;
  for (const [index, text] of lines.entries()) {
    const line = parseLine(text);
    if (line === null) {
      findings.push(finding(`line ${index + 1} is none`, { line: index + 1 }));
      head = null;
      continue;
    }
    const follows = head === null || (line.seq === head.seq + 1 && line.prev === head.hash);
    const before = head?.seq ?? 0;
    const message = `line ${line.seq} does not follow line ${before}: changed, cut or put in`;
    if (!follows) findings.push(finding(message, { seq: line.seq }));
    head = headAfter(text, line);
  }
  return findings;
}

function finding(message: string, details: Readonly<Record<string, unknown>>): Finding {
  return { code: 'AUDIT_LOG_BROKEN', message: `audit log: ${message}`, details };
}
