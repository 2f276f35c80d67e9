// Program beside a store (side-process.ts): takes one file at a time, answers with what it did.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { auditFile } from './audit-file.ts';
import type { CopiedFile, SideAnswer, SideWork } from './side-process.ts';

/** Of one read and write: larger ones are no faster. */
const PIECE_BYTES = 1024 * 1024;

function copyFile(from: string, to: string): CopiedFile {
  const [source, target] = [openSync(from, 'r'), openSync(to, 'wx', 0o600)];
  try {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let bytes = 0;
    for (;;) {
      const length = readSync(source, piece, 0, PIECE_BYTES, bytes);
      if (length === 0) return { bytes, sha256: hash.digest('hex') };
      const read = piece.subarray(0, length);
      hash.update(read);
      for (let written = 0; written < length; ) {
        written += writeSync(target, read, written, length - written, bytes + written);
      }
      bytes += length;
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

function answerOf(work: SideWork): SideAnswer {
  try {
    return work.kind === 'audit'
      ? { kind: 'audited', audit: auditFile(work.file) }
      : { kind: 'copied', copy: copyFile(work.from, work.to) };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

process.on('message', (work: SideWork) => process.send?.(answerOf(work)));
// Nobody is left to answer to.
process.on('disconnect', () => process.exit());
