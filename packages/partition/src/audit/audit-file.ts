// Audits one partition file by its name: a file that cannot even be opened is a finding too.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { openUntrusted } from '../file/open-sqlite.ts';
import { auditPartitionFile, type PartitionAudit } from './audit-partition-file.ts';

/**
 * Nobody else may have the file open. A WAL beside it is read with it, and moved into it. What is
 * read as memory, up to `mappedBytes`, ends the process when the disk cannot give it.
 */
export function auditFile(file: string, mappedBytes = 0): PartitionAudit {
  let db: ReturnType<typeof openUntrusted>;
  try {
    db = openUntrusted(file, mappedBytes);
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
