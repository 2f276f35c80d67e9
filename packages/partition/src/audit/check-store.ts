// Audits partition files and whole data directories that no store has open.
import { join } from 'node:path';
import type { Finding } from '@ringwright/base/finding';
import { dataPaths } from '../file/data-paths.ts';
import { readEmptyPartitions } from '../file/empty-partitions.ts';
import { restoreWal } from '../file/kept-wal.ts';
import {
  listPartitionDirectories,
  type PartitionFolder,
  readCurrent,
} from '../file/partition-directory.ts';
import { isUnfinished } from '../file/read-partitions.ts';
import { checkLogIsThere, listSegments } from '../log/log-segment.ts';
import { readSegment } from '../log/read-segment.ts';
import { checkContiguous } from '../log/replay-log.ts';
import { auditFile, findingOf } from './audit-partition-file.ts';
import { lockDirectory } from './directory-lock.ts';

/**
 * Reports everything wrong in a data directory: partitions, their locations, the log. Remains of a
 * crash (staged files, a torn tail, old incarnations) are not findings. Throws DATA_DIR_IN_USE.
 */
export async function checkStore(directory: string): Promise<Finding[]> {
  using _ = lockDirectory(directory);
  const findings = await checkLog(directory);
  const empties = await readEmptyPartitions(directory);
  for (const folder of await listPartitionDirectories(directory)) {
    if (await isUnfinished(folder, empties)) continue;
    findings.push(...(await checkPlace(folder)));
  }
  return findings;
}

async function checkPlace(folder: PartitionFolder): Promise<Finding[]> {
  try {
    const incarnation = await readCurrent(folder.directory);
    const file = join(folder.directory, incarnation, 'data.db');
    restoreWal(file);
    const { findings, meta } = auditFile(file);
    const located = findings.map(({ code, message, details }) => {
      return { code, message: `${file}: ${message}`, details: { ...details, file } };
    });
    if (meta === null) return located;
    const expected = { ...folder, incarnation };
    for (const name of ['keyspace', 'partition', 'incarnation'] as const) {
      if (meta[name] === expected[name]) continue;
      const message = `${file}: ${name} is ${meta[name]}, its place says ${expected[name]}`;
      located.push({ code: 'FILE_MISPLACED', message, details: { file } });
    }
    return located;
  } catch (error) {
    return [findingOf(error)];
  }
}

async function checkLog(root: string): Promise<Finding[]> {
  const directory = dataPaths.log(root);
  try {
    const segments = await listSegments(directory);
    checkLogIsThere(root, segments);
    checkContiguous(directory, segments);
    for (const number of segments) {
      await readSegment(directory, number, number === segments.at(-1));
    }
    return [];
  } catch (error) {
    return [findingOf(error)];
  }
}
