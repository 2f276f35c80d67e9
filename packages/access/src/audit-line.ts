// A line of the audit log: who did what, when, chained to the previous line by its hash. Pure.
import { assert } from '@ringwright/base/assert';
import { canonicalJson } from '@ringwright/base/canonical-json';
import type { Finding } from '@ringwright/base/finding';
import { auditLineBytesMax } from '@ringwright/base/limits-access';
import { sha256 } from '@ringwright/base/sha256';
import { stampMsMax } from '@ringwright/base/stamp';
import { z } from 'zod';

const lineSchema = z.strictObject({
  /** 1, 2, 3 … over all files. */
  seq: z.int().min(1),
  /** Milliseconds since 1970, by the server's clock. */
  ms: z.int().min(0).max(stampMsMax),
  /** access, refused, ring, trust, start, lost, or the method of an operator's message. */
  kind: z.string(),
  /** A token, a peer, or a caller's address. */
  who: z.string(),
  what: z.string(),
  /** SHA-256 of the previous line. */
  prev: z.string().regex(/^[0-9a-f]{64}$/),
});

export type AuditLine = z.infer<typeof lineSchema>;
export type AuditEvent = Pick<AuditLine, 'kind' | 'who' | 'what'>;

/** The head of an empty log. */
export const auditStart = { seq: 0, hash: '0'.repeat(64) };

export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** Maximum characters of each field; JSON makes at most six times as many bytes of them. */
const lengthMax = { kind: 32, who: 72, what: 190 };

const FURTHER_BYTES_MAX = 160;

assert(
  6 * (lengthMax.kind + lengthMax.who + lengthMax.what) + FURTHER_BYTES_MAX <= auditLineBytesMax,
  'a line has no more bytes than it may have',
);

export function printLine(event: AuditEvent, ms: number, head: AuditHead): string {
  const { kind, who, what } = event;
  const fields = {
    kind: kind.slice(0, lengthMax.kind),
    who: who.slice(0, lengthMax.who),
    what: what.slice(0, lengthMax.what),
  };
  return canonicalJson({ ...fields, ms, seq: head.seq + 1, prev: head.hash });
}

/** Null if the text is not a line. */
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
 * Finds errors in consecutive lines, oldest first. The first line may follow lines that are no
 * longer kept, and lines cut off at the end cannot be detected here.
 */
export function checkChain(lines: readonly string[]): Finding[] {
  const findings: Finding[] = [];
  let head: AuditHead | null = null;
  for (const [index, text] of lines.entries()) {
    const line = parseLine(text);
    if (line === null) {
      findings.push(finding(`line ${index + 1} cannot be read`, { line: index + 1 }));
      head = null;
      continue;
    }
    const follows = head === null || (line.seq === head.seq + 1 && line.prev === head.hash);
    const before = head?.seq ?? 0;
    const message = `line ${line.seq} does not follow line ${before}: changed, removed or inserted`;
    if (!follows) findings.push(finding(message, { seq: line.seq }));
    head = headAfter(text, line);
  }
  return findings;
}

function finding(message: string, details: Readonly<Record<string, unknown>>): Finding {
  return { code: 'AUDIT_LOG_BROKEN', message: `audit log: ${message}`, details };
}
