// Reads a partition in use as a whole: audits a consistent copy of it in a helper process.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { findingOf } from './audit/audit-partition-file.ts';
import { takeSnapshot } from './copy/snapshot.ts';
import type { Partition } from './file/partition.ts';
import { isDamage } from './file/sqlite-errors.ts';
import type { StoreParts } from './store/store-parts.ts';

export interface Scrubbed {
  /** Bytes read. */
  readonly bytes: number;
  readonly findings: readonly Finding[];
}

/**
 * Marks a file with findings as damaged. The findings must show up in two copies: a memory fault,
 * or a disk fault under one copy, must not cost a good file.
 */
export async function scrubPartition(parts: StoreParts, partition: Partition): Promise<Scrubbed> {
  // A read or write has found the damage already.
  if (partition.damage !== null) return { bytes: 0, findings: [findingOf(partition.damage)] };
  // An empty partition has no file to read, and must not get one from a scrub.
  if (!partition.hasFile) return { bytes: 0, findings: [] };
  const first = await auditCopy(parts, partition);
  if (first.findings.length === 0) return first;
  const { incarnation } = partition;
  const second = await auditCopy(parts, partition);
  const bytes = first.bytes + second.bytes;
  // The file with the damage is gone.
  if (partition.incarnation !== incarnation) return { bytes, findings: [] };
  const [finding] = second.findings;
  if (finding !== undefined) {
    const { keyspace, partition: number } = partition;
    partition.damage ??= new CodedError(
      'PARTITION_DAMAGED',
      `file of ${keyspace}/${number}: ${finding.message}`,
      {
        hint: 'drop the partition: its folder goes to the trash, and it refills from its peers',
        details: { keyspace, partition: number, findings: second.findings },
      },
    );
  }
  return { bytes, findings: second.findings };
}

async function auditCopy(parts: StoreParts, partition: Partition): Promise<Scrubbed> {
  try {
    await using snapshot = await takeSnapshot(parts, partition);
    const { findings } = await parts.audits.audit(snapshot.file);
    return { bytes: snapshot.manifest.bytes, findings };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { bytes: 0, findings: [findingOf(error)] };
  }
}
