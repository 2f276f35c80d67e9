// Reads a whole partition file that nobody else has open, and says everything that is wrong with
// it. Long and synchronous: a server runs it in another process.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import type Database from 'better-sqlite3';
import { emptyDigest, formatDigest, toggleRow } from '../file/digest.ts';
import { readMeta } from '../file/partition-meta.ts';
import { type FullRow, rowContent, statements } from '../file/partition-statements.ts';
import { isRowHash, matchesHash } from '../file/record-bytes.ts';
import type { MetaRow } from '../file/schema.ts';
import type { Tally } from '../file/tally.ts';

/** Findings reported one by one; a file in shreds is not worth a longer list. */
const FINDINGS_MAX = 20;

/** The collector is good at shorter values. */
const FREED_BYTES_MIN = 16 * 1024;

export interface PartitionAudit {
  readonly findings: readonly Finding[];
  /** What the file says about itself, or null when not even that can be read. */
  readonly meta: MetaRow | null;
}

/** quick_check comes first: until it has passed no other statement can be trusted. */
export function auditPartitionFile(db: Database.Database): PartitionAudit {
  const findings: Finding[] = [];
  try {
    const check = db.pragma(`quick_check(${FINDINGS_MAX})`) as { quick_check: string }[];
    for (const { quick_check: answer } of check) {
      if (answer !== 'ok') findings.push({ code: 'FILE_CORRUPT', message: answer });
    }
    if (findings.length > 0) return { findings, meta: null };
    const meta = readMeta(db);
    findings.push(...auditRows(db, meta));
    return { findings, meta };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof CodedError ? error.code : 'FILE_CORRUPT';
    return { findings: [...findings, { code, message }], meta: null };
  }
}

function auditRows(db: Database.Database, meta: MetaRow): Finding[] {
  const findings: Finding[] = [];
  const counted: Tally = {
    rows: 0,
    tombstones: 0,
    bytes: 0,
    seq: 0,
    highest_ms: 0,
    digest: emptyDigest,
  };
  for (const row of statements.since(db).iterate(0, Number.MAX_SAFE_INTEGER)) {
    const finding = countRow(row, counted);
    if (finding !== null && findings.length < FINDINGS_MAX) findings.push(finding);
    freeValue(row);
  }
  findings.push(...auditKeys(db, counted.rows + counted.tombstones));
  return [...findings, ...compareCounters(counted, meta)];
}

/** Left to the collector, long values cost as much as reading them. */
function freeValue([, , , , value]: FullRow): void {
  if (value instanceof Uint8Array && value.length >= FREED_BYTES_MIN) freeOwnBytes(value);
}

function countRow(row: FullRow, counted: Tally): Finding | null {
  const [seq, , ms, , value, hash] = row;
  if (value === null) counted.tombstones += 1;
  else {
    counted.rows += 1;
    counted.bytes += value.length;
  }
  counted.seq = seq;
  counted.highest_ms = Math.max(counted.highest_ms, ms);
  if (!isRowHash(hash)) return rowFinding(seq, 'has a hash that is none');
  counted.digest = toggleRow(counted.digest, hash);
  if (!matchesHash(rowContent(row), hash)) return rowFinding(seq, 'does not match its hash');
  return null;
}

function rowFinding(seq: number, what: string): Finding {
  return { code: 'RECORD_DAMAGED', message: `record ${seq} ${what}`, details: { seq } };
}

/** The index over keys is what quick_check leaves out: each key must lead to its own row. */
function auditKeys(db: Database.Database, count: number): Finding[] {
  const found = db
    .prepare<[], number>(
      `SELECT count(*) FROM records AS r NOT INDEXED
       WHERE r.seq = (SELECT seq FROM records AS k WHERE k.key = r.key)`,
    )
    .pluck()
    .get();
  if (found === count) return [];
  return [
    {
      code: 'KEY_INDEX_WRONG',
      message: `the key index finds ${found} records, there are ${count}`,
    },
  ];
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
  // Rows may leave, their numbers and stamps are never given again: the counter may only be higher.
  for (const name of ['seq', 'highest_ms'] as const) {
    if (counted[name] > meta[name]) differs(name, counted[name], meta[name]);
  }
  return findings;
}
