// The files of an audit log: named by the number of their first line, limited in number; the oldest
// is removed first.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkChain } from '@ringwright/access/audit-line';
import type { Finding } from '@ringwright/base/finding';
import {
  auditFileBytesMax,
  auditFilesMax,
  auditLineBytesMax,
  auditWaitingMax,
} from '@ringwright/base/limits-access';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';

/** Lines that waited together are written to one file, even if it is full by then. */
const READ_BYTES_MAX = auditFileBytesMax + (auditWaitingMax + 1) * auditLineBytesMax;

export function auditFolder(data: string): string {
  return join(data, 'audit');
}

export function auditFile(folder: string, firstSeq: number): string {
  return join(folder, `${String(firstSeq).padStart(12, '0')}.jsonl`);
}

/** Oldest first; none if there is no folder. */
export async function listAuditFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(nullIfMissing)) ?? [];
  const own = names.filter((name) => /^\d{12}\.jsonl$/.test(name));
  return own.sort().map((name) => join(folder, name));
}

/**
 * Returns the lines of a file, without what a crash may have left at its end: an incomplete line,
 * or zeros where the disk had not received the bytes, and what follows them. No line has a zero.
 */
export async function readAuditFile(file: string): Promise<string[]> {
  const text = String(await readRegularFile(file, READ_BYTES_MAX));
  const [received = ''] = text.split('\0', 1);
  return received.split('\n').slice(0, -1);
}

export async function removeOldFiles(folder: string): Promise<void> {
  const files = await listAuditFiles(folder);
  for (const file of files.slice(0, -auditFilesMax)) await rm(file, { force: true });
}

/** Checks the whole log of a data directory. */
export async function checkAuditLog(data: string): Promise<Finding[]> {
  const lines: string[] = [];
  for (const file of await listAuditFiles(auditFolder(data))) {
    lines.push(...(await readAuditFile(file)));
  }
  return checkChain(lines);
}
