// Program beside a store (side-process.ts): takes one file at a time, answers with what it did.
import { createHash } from 'node:crypto';
import { closeSync, constants, copyFileSync, openSync, readSync, statSync } from 'node:fs';
import { copyHashedBytesMax } from '@ringwright/base/limits-copies';
import type { CopiedFile, SideAnswer, SideRequest, SideWork } from './side-process.ts';

/** Of one read: larger ones are no faster. */
const PIECE_BYTES = 1024 * 1024;

/** The kernel copies: what is long is hashed afterwards, while it is sent. */
function copyFile(from: string, to: string): CopiedFile {
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  const { size: bytes } = statSync(to);
  return { bytes, sha256: bytes > copyHashedBytesMax ? null : hashFile(to) };
}

function hashFile(file: string): string {
  const source = openSync(file, 'r');
  try {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let at = 0; ; ) {
      const length = readSync(source, piece, 0, PIECE_BYTES, at);
      if (length === 0) return hash.digest('hex');
      hash.update(piece.subarray(0, length));
      at += length;
    }
  } finally {
    closeSync(source);
  }
}

/** SQLite takes half of the time to start: who only copies does without. */
const audits = () => import('./audit-file.ts');

async function answerOf(work: SideWork): Promise<SideAnswer> {
  try {
    if (work.kind === 'copy') return { kind: 'copied', copy: copyFile(work.from, work.to) };
    if (work.kind === 'hash') return { kind: 'hashed', sha256: hashFile(work.file) };
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
