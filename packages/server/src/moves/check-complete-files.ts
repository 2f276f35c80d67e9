// Finds partitions that a data directory at rest has held complete, but whose folders are gone:
// what its server would report at its start.
import { stat } from 'node:fs/promises';
import { hasCode } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { type PartitionRef, partitionName } from '@ringwright/partition/file/data-paths';
import { partitionsThere } from '@ringwright/partition/inspect-store';
import { listTrash } from '@ringwright/partition/trash/trash';
import { folderDeleted } from '../repair/repair-sentence.ts';
import { CompleteFiles } from './complete-files.ts';

/** Throws DATA_DIR_IN_USE. */
export async function checkCompleteFiles(data: string): Promise<Finding[]> {
  try {
    const held = (await CompleteFiles.load(data)).list();
    if (held.length === 0) return [];
    const present = [...(await partitionsThere(data)), ...(await dropped(data))];
    const accounted = new Set(present.map(partitionName));
    return held.filter((ref) => !accounted.has(partitionName(ref))).map(missed);
  } catch (error) {
    if (!hasCode(error, 'DISK_FAILED')) throw error;
    return [{ code: error.code, message: error.message }];
  }
}

/**
 * Partitions that went to the trash after held.json was last written. The next pass removes them
 * from it.
 */
async function dropped(data: string): Promise<PartitionRef[]> {
  const { mtimeMs } = await stat(CompleteFiles.file(data));
  return (await listTrash(data)).filter(({ atMs }) => atMs >= Math.floor(mtimeMs));
}

function missed({ keyspace, partition }: PartitionRef): Finding {
  const name = partitionName({ keyspace, partition });
  const message = `${name}: ${folderDeleted}; the next start refills it`;
  return { code: 'PARTITION_ABSENT', message, details: { keyspace, partition } };
}
