// Program beside a store (side-process.ts): takes one file at a time, answers with what it did.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { CopiedFile, SideAnswer, SideRequest, SideWork } from './side-process.ts';

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

/** SQLite takes half of the time to start: who only copies does without. */
const audits = () => import('./audit-file.ts');

async function answerOf(work: SideWork): Promise<SideAnswer> {
  try {
    if (work.kind === 'copy') return { kind: 'copied', copy: copyFile(work.from, work.to) };
    const { auditFile } = await audits();
    return { kind: 'audited', audit: auditFile(work.file) };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

async function take(request: SideRequest): Promise<void> {
  if (request.kind === 'prepare') await audits();
  else process.send?.(await answerOf(request));
}

process.on('message', (request: SideRequest) => void take(request));
// Nobody is left to answer to.
process.on('disconnect', () => process.exit());
