// Audits one partition file by its name; a file that cannot even be opened is a finding too.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { auditMappedBytes } from '@ringwright/base/limits-copies';
import { messageOf } from '@ringwright/base/thrown';
import type Database from 'better-sqlite3';
import { openUntrusted } from '../file/open-sqlite.ts';
import { auditPartitionFile, type PartitionAudit } from './audit-partition-file.ts';
import { type FileOwner, makeOwnedDurable, type OwnedFile, ownFile } from './own-file.ts';

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
  using ends = new DisposableStack();
  let db: Database.Database;
  try {
    db = ends.adopt(openUntrusted(file, mappedBytes), (one) => one.close());
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
