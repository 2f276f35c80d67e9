// Which file a name leads to. A file that is open goes on working when its name is gone or leads to
// another file, and everything written to it is lost when it is closed.
import { statSync } from 'node:fs';
import { codeOf } from '@ringwright/base/thrown';

export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
  /** Its length when it was looked at. */
  readonly bytes: number;
}

/**
 * One call of the system, of a few microseconds. Null when the name leads to no file. Throws what
 * the system says else: a disk that does not answer has lost nothing yet.
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

/** What the files of a partition were when they were opened or closed. */
export interface SeenFiles {
  readonly data: FileIdentity | null;
  /** Null when the file is closed: SQLite removes the WAL then. */
  readonly wal: FileIdentity | null;
}

/** Called right after SQLite has opened the file, and after it has closed it. */
export function seeFiles(data: string): SeenFiles {
  return { data: identityOf(data), wal: identityOf(`${data}-wal`) };
}

/** What became of a file that must be there with `known.bytes` or more; null when it is well. */
export function whyLost(file: string, known: FileIdentity | null): string | null {
  const found = identityOf(file);
  if (found === null || known === null) return `${file} is gone`;
  if (found.dev !== known.dev || found.ino !== known.ino) {
    return `${file} is another file than the one that is in use`;
  }
  if (found.bytes >= known.bytes) return null;
  return `${file} has been cut: ${found.bytes} bytes of ${known.bytes}`;
}
