// Audits one partition file by its name: a file that cannot even be opened is a finding too.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { auditMappedBytes } from '@ringwright/base/limits-copies';
import { openUntrusted } from '../file/open-sqlite.ts';
import { auditPartitionFile, type PartitionAudit } from './audit-partition-file.ts';

/**
 * Nobody else may have the file open. A WAL beside it is read with it, and moved into it. A staged
 * file is worth nothing after a crash, so nothing of it is synced; it is read as memory, which ends
 * the process when the disk cannot give it.
 */
export function auditFile(file: string, { isStaged = false } = {}): PartitionAudit {
  let db: ReturnType<typeof openUntrusted>;
  try {
    db = openUntrusted(file, isStaged ? auditMappedBytes : 0);
    if (isStaged) db.pragma('synchronous = OFF');
  } catch (error) {
    return { findings: [findingOf(error)], meta: null };
  }
  try {
    return auditPartitionFile(db);
  } finally {
    db.close();
  }
}

/** An error as a finding: FILE_CORRUPT unless it has a code of its own. */
export function findingOf(error: unknown): Finding {
  if (error instanceof CodedError) {
    return { code: error.code, message: error.message, details: error.details };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'FILE_CORRUPT', message };
}
