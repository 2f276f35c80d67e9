// Reads a whole partition file that nobody else has open, and says everything that is wrong with
// it, also that it cannot be opened. Long and synchronous: a server runs it in another process.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { auditMappedBytes } from '@ringwright/base/limits-copies';
import { messageOf } from '@ringwright/base/thrown';
import type Database from 'better-sqlite3';
import { formatDigest, rowHashBytes } from '../file/digest.ts';
import { openUntrusted } from '../file/open-sqlite.ts';
import { readMeta } from '../file/partition-meta.ts';
import type { HashedRow } from '../file/record.ts';
import { isRowHash, matchesHash } from '../file/record-bytes.ts';
import type { MetaRow } from '../file/schema.ts';
import { countRow, newTally, type Tally } from '../file/tally.ts';
import { auditedRows } from './audited-rows.ts';
import { type FileOwner, makeOwnedDurable, type OwnedFile, ownFile } from './own-file.ts';

/** Findings reported one by one; a badly damaged file needs no longer list. */
const FINDINGS_MAX = 20;
/** Leaves the digest as it is. */
const NO_HASH = Buffer.alloc(rowHashBytes);

export interface PartitionAudit {
  readonly findings: readonly Finding[];
  /** The file's meta row, or null when it cannot be read. */
  readonly meta: MetaRow | null;
}

/**
 * Runs integrity_check first: before it passes, no other statement can be trusted. It also checks
 * that each key leads to its own row.
 */
function auditPartitionFile(db: Database.Database): PartitionAudit {
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
  const tally = newTally();
  for (const row of auditedRows(db)) {
    const finding = auditRow(row, tally);
    if (finding !== null && findings.length < FINDINGS_MAX) findings.push(finding);
  }
  return [...findings, ...compareCounters(tally, meta)];
}

function auditRow(row: HashedRow, tally: Tally): Finding | null {
  const { seq, ms, value, hash } = row;
  const isValid = isRowHash(hash);
  countRow(tally, { valueBytes: value?.length ?? null, hash: isValid ? hash : NO_HASH });
  tally.seq = seq;
  tally.highest_ms = Math.max(tally.highest_ms, ms);
  if (!isValid) return rowFinding(seq, 'has an invalid hash');
  if (!matchesHash(row, hash)) return rowFinding(seq, 'does not match its hash');
  return null;
}

function rowFinding(seq: number, problem: string): Finding {
  return { code: 'RECORD_DAMAGED', message: `record ${seq} ${problem}`, details: { seq } };
}

function compareCounters(tally: Tally, meta: MetaRow): Finding[] {
  const findings: Finding[] = [];
  const differs = (name: string, found: number | string, kept: number | string): void => {
    const message = `${name} is ${found}, the file says ${kept}`;
    findings.push({ code: 'COUNTER_WRONG', message, details: { name, found, kept } });
  };
  const digest = formatDigest(tally.digest);
  if (digest !== meta.digest) differs('digest', digest, meta.digest);
  for (const name of ['rows', 'tombstones', 'bytes'] as const) {
    if (tally[name] !== meta[name]) differs(name, tally[name], meta[name]);
  }
  // Rows may be removed, but their sequences and stamps are never reused: the counter may be
  // higher.
  for (const name of ['seq', 'highest_ms'] as const) {
    if (tally[name] > meta[name]) differs(name, tally[name], meta[name]);
  }
  return findings;
}

export interface FileAudit extends PartitionAudit {
  /** The owner's file, durable by then; null if it has findings or no owner was named. */
  readonly owned: OwnedFile | null;
}

/** Nobody else may have the file open. A WAL beside it is read too, and moved into it. */
export function auditFile(file: string): PartitionAudit {
  return withOpened(file, 0, (db) => ({ ...auditPartitionFile(db), owned: null }));
}

/**
 * Audits a staged file, which is worthless after a crash. So nothing is synced unless the file gets
 * an owner here. `onWait` is called when only the disk is left to wait for. The file is
 * memory-mapped, so a page that the disk cannot read ends the process.
 */
export async function auditStaged(
  file: string,
  owner: FileOwner | null,
  onWait: () => void,
): Promise<FileAudit> {
  const audit = withOpened(file, auditMappedBytes, (db) => {
    const found = auditPartitionFile(db);
    if (found.findings.length > 0) return { ...found, owned: null };
    db.pragma('synchronous = OFF');
    return { ...found, owned: owner && ownFile(db, owner) };
  });
  if (owner === null || audit.owned === null) return audit;
  onWait();
  await makeOwnedDurable(file, owner);
  return audit;
}

function withOpened(
  file: string,
  mappedBytes: number,
  audit: (db: Database.Database) => FileAudit,
): FileAudit {
  using cleanup = new DisposableStack();
  let db: Database.Database;
  try {
    db = cleanup.adopt(openUntrusted(file, mappedBytes), (one) => one.close());
  } catch (error) {
    return { findings: [findingOf(error)], meta: null, owned: null };
  }
  return audit(db);
}

/** Converts an error to a finding: FILE_CORRUPT unless it has a code of its own. */
export function findingOf(error: unknown): Finding {
  if (error instanceof CodedError) {
    return { code: error.code, message: error.message, details: error.details };
  }
  const message = messageOf(error);
  return { code: 'FILE_CORRUPT', message };
}
