// Program beside a store (side-process.ts): takes one file at a time, answers with what it did.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { copyWriteBytes } from '@ringwright/base/limits-copies';
import { KeyedChecksum } from '../audit/keyed-checksum.ts';
import type { CopiedFile, SideAnswer, SideRequest, SideWork } from './side-process.ts';

function copyFile(from: string, to: string): CopiedFile {
  const source = openSync(from, 'r');
  try {
    return copyOpened(source, to);
  } finally {
    closeSync(source);
  }
}

/** Summed between reading and writing, which costs no more than having the kernel copy. */
function copyOpened(source: number, to: string): CopiedFile {
  const target = openSync(to, 'wx', 0o600);
  try {
    const checksum = KeyedChecksum.begin();
    const piece = Buffer.allocUnsafe(copyWriteBytes);
    for (let bytes = 0; ; ) {
      const length = readSync(source, piece, 0, copyWriteBytes, bytes);
      if (length === 0) return { bytes, seal: checksum.text() };
      checksum.take(piece.subarray(0, length));
      const written = writeSync(target, piece, 0, length, bytes);
      if (written !== length) throw new Error(`${written} of ${length} bytes were written`);
      bytes += length;
    }
  } finally {
    closeSync(target);
  }
}

/** SQLite takes half of the time to start: who only copies does without. */
const audits = () => import('../audit/audit-file.ts');

async function answerOf(work: SideWork): Promise<SideAnswer> {
  try {
    if (work.kind === 'copy') return { kind: 'copied', copy: copyFile(work.from, work.to) };
    if (work.kind === 'build') {
      const { buildChildren } = await import('./build-children.ts');
      return { kind: 'built', children: buildChildren(work) };
    }
    if (work.kind === 'merge') {
      const { mergeFile } = await import('./merge-file.ts');
      mergeFile(work);
      return { kind: 'merged' };
    }
    const { auditFile } = await audits();
    return { kind: 'audited', audit: auditFile(work.file, { isStaged: true }) };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

async function take(request: SideRequest): Promise<void> {
  if (request.kind === 'prepare') await audits();
  else process.send?.(await answerOf(request));
  flushCompileCache(); // it is killed when it is not needed
}

process.on('message', (request: SideRequest) => void take(request));
// Nobody is left to answer to.
process.on('disconnect', () => process.exit());
