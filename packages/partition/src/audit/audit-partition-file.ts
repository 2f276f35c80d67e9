// Reads a whole partition file that nobody else has open, and reports everything that is wrong.
// Long and synchronous: a server runs it in another process.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { messageOf } from '@ringwright/base/thrown';
import type Database from 'better-sqlite3';
import { formatDigest, toggleRow } from '../file/digest.ts';
import { readMeta } from '../file/partition-meta.ts';
import type { HashedRow } from '../file/record.ts';
import { isRowHash, matchesHash } from '../file/record-bytes.ts';
import type { MetaRow } from '../file/schema.ts';
import { newTally, type Tally } from '../file/tally.ts';
import { auditedRows } from './audited-rows.ts';

/** Findings reported one by one; a badly damaged file needs no longer list. */
const FINDINGS_MAX = 20;

export interface PartitionAudit {
  readonly findings: readonly Finding[];
  /** The file's meta row, or null when it cannot be read. */
  readonly meta: MetaRow | null;
}

/**
 * Runs integrity_check first: before it passes, no other statement can be trusted. It also checks
 * that each key leads to its own row.
 */
export function auditPartitionFile(db: Database.Database): PartitionAudit {
  const findings: Finding[] = [];
  try {
    const check = db.pragma(`integrity_check(${FINDINGS_MAX})`) as { integrity_check: string }[];
    for (const { integrity_check: answer } of check) {
      if (answer !== 'ok') findings.push({ code: 'FILE_CORRUPT', message: answer });
    }
    if (findings.length > 0) return { findings, meta: null };
    const meta = readMeta(db);
    findings.push(...auditRows(db, meta));
    return { findings, meta };
  } catch (error) {
    const message = messageOf(error);
    const code = error instanceof CodedError ? error.code : 'FILE_CORRUPT';
    return { findings: [...findings, { code, message }], meta: null };
  }
}

function auditRows(db: Database.Database, meta: MetaRow): Finding[] {
  const findings: Finding[] = [];
  const counted = newTally();
  for (const row of auditedRows(db)) {
    const finding = countRow(row, counted);
    if (finding !== null && findings.length < FINDINGS_MAX) findings.push(finding);
  }
  return [...findings, ...compareCounters(counted, meta)];
}

function countRow(row: HashedRow, counted: Tally): Finding | null {
  const { seq, ms, value, hash } = row;
  if (value === null) counted.tombstones += 1;
  else {
    counted.rows += 1;
    counted.bytes += value.length;
  }
  counted.seq = seq;
  counted.highest_ms = Math.max(counted.highest_ms, ms);
  if (!isRowHash(hash)) return rowFinding(seq, 'has a hash that is none');
  counted.digest = toggleRow(counted.digest, hash);
  if (!matchesHash(row, hash)) return rowFinding(seq, 'does not match its hash');
  return null;
}

function rowFinding(seq: number, what: string): Finding {
  return { code: 'RECORD_DAMAGED', message: `record ${seq} ${what}`, details: { seq } };
}

function compareCounters(counted: Tally, meta: MetaRow): Finding[] {
  const findings: Finding[] = [];
  const differs = (name: string, found: number | string, kept: number | string): void => {
    const message = `${name} is ${found}, the file says ${kept}`;
    findings.push({ code: 'COUNTER_WRONG', message, details: { name, found, kept } });
  };
  const digest = formatDigest(counted.digest);
  if (digest !== meta.digest) differs('digest', digest, meta.digest);
  for (const name of ['rows', 'tombstones', 'bytes'] as const) {
    if (counted[name] !== meta[name]) differs(name, counted[name], meta[name]);
  }
  // Rows may be removed, but their sequences and stamps are never reused: the counter may be
  // higher.
  for (const name of ['seq', 'highest_ms'] as const) {
    if (counted[name] > meta[name]) differs(name, counted[name], meta[name]);
  }
  return findings;
}
