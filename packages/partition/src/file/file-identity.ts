// Which file a name leads to. An open file keeps working after its name is deleted or leads to
// another file, and everything written to it is lost when it is closed.
import { statSync } from 'node:fs';
import { codeOf } from '@ringwright/base/thrown';

export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
  /** Its length at that time. */
  readonly bytes: number;
}

/**
 * One system call of a few microseconds. Null when the name leads to no file. Throws other system
 * errors: a disk that does not answer has lost nothing yet.
 */
export function identityOf(file: string): FileIdentity | null {
  try {
    const { dev, ino, size: bytes } = statSync(file);
    return { dev, ino, bytes };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** Identities of a partition's files when they were opened or closed. */
export interface FileIdentities {
  readonly data: FileIdentity | null;
  /** Null when the file is closed: SQLite then removes the WAL. */
  readonly wal: FileIdentity | null;
}

/** Called right after SQLite has opened or closed the file. */
export function readFileIdentities(data: string): FileIdentities {
  return { data: identityOf(data), wal: identityOf(`${data}-wal`) };
}

/** Says why a file is lost that must exist with at least `known.bytes`; null when it is intact. */
export function whyLost(file: string, known: FileIdentity | null): string | null {
  const found = identityOf(file);
  if (found === null || known === null) return `${file} is gone`;
  if (found.dev !== known.dev || found.ino !== known.ino) {
    return `${file} was replaced by another file while it was in use`;
  }
  if (found.bytes >= known.bytes) return null;
  return `${file} was truncated to ${found.bytes} of ${known.bytes} bytes`;
}
