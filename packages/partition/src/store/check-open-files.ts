// Compares the open files of a store with the names in its directory. SQLite and the log go on
// writing to a file that was deleted, replaced or truncated, and nothing fails until the next
// start.
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { filesLookedAtPerTurn } from '@ringwright/base/limits-store';
import { makeDirectory } from '@ringwright/node/durable-files';
import { dataPaths, type PartitionRef } from '../file/data-paths.ts';
import { lostError, whyPartitionLost } from '../file/lost-file.ts';
import type { Partition } from '../file/partition.ts';
import { damageError, isDamage } from '../file/sqlite-errors.ts';
import type { StoreParts } from './store-parts.ts';

export interface FilesCheck {
  /** Number of partitions checked. */
  readonly partitions: number;
  /** Marked as damaged by this check: see Store.damaged. */
  readonly lost: readonly (PartitionRef & { readonly error: CodedError })[];
  /** LOG_DAMAGED when a needed segment is lost; its content is now being written to the files. */
  readonly log: CodedError | null;
  /** System errors. A file that could not be checked counts as intact until the next check. */
  readonly errors: readonly unknown[];
}

/** Makes three system calls per partition, on this thread in short turns. */
export async function checkOpenFiles(parts: StoreParts): Promise<FilesCheck> {
  const errors: unknown[] = [];
  const noteError = (error: unknown): null => {
    errors.push(error);
    return null;
  };
  const emptiesError = await lookAtEmpties(parts).catch(noteError);
  const log = (await lookAtLog(parts).catch(noteError)) ?? emptiesError;
  const lost: FilesCheck['lost'][number][] = [];
  let partitions = 0;
  for (const partition of [...parts.registry.all()]) {
    if (parts.closed) break;
    if (partition.isDropped || partition.damage !== null) continue;
    try {
      const error = damageOf(parts.root, partition);
      const { keyspace, partition: number } = partition;
      if (error !== null) lost.push({ keyspace, partition: number, error });
      partition.damage = error;
    } catch (error) {
      errors.push(error);
    }
    partitions += 1;
    if (partitions % filesLookedAtPerTurn === 0) await setImmediate();
  }
  return { partitions, lost, log, errors };
}

/**
 * Returns why a partition's file is lost or damaged. SQLite is asked for the WAL's length and may
 * find damage itself.
 */
export function damageOf(root: string, partition: Partition): CodedError | null {
  try {
    const reason = whyPartitionLost(root, partition);
    return reason === null ? null : lostError(partition, reason);
  } catch (error) {
    if (isDamage(error)) return damageError(error, partition);
    throw error;
  }
}

/**
 * Memory and the partition files hold everything that the log does, so nothing is lost as long as
 * this process lives. The log begins a new segment, and the content of the lost one is made durable
 * in the files. A store whose log cannot begin a new segment fails.
 */
async function lookAtLog(parts: StoreParts): Promise<CodedError | null> {
  const { log, checkpointer } = parts;
  const reason = whyFinishedLost(parts) ?? (await whyCurrentLost(parts));
  if (reason === null) return null;
  // The folder may be gone too. If it cannot be created, the next segment cannot either.
  await makeDirectory(dataPaths.log(parts.root)).catch(() => undefined);
  log.abandonSegment();
  checkpointer.leaveSegments();
  // Batches in flight still go into the lost segment.
  void log.drained().then(() => checkpointer.segmentBegan());
  const hint = 'somebody, or another program, changed the data directory; a new log was begun';
  return new CodedError('LOG_DAMAGED', reason, { hint });
}

async function lookAtEmpties({ empties }: StoreParts): Promise<CodedError | null> {
  const reason = await empties.mend();
  const hint = 'somebody, or another program, changed the data directory; the file was rewritten';
  return reason === null ? null : new CodedError('LOG_DAMAGED', reason, { hint });
}

async function whyCurrentLost({
  log,
  checkpointer,
}: Pick<StoreParts, 'log' | 'checkpointer'>): Promise<string | null> {
  return checkpointer.leftSegments > log.currentSegment ? null : log.whyLost();
}

/** Damaged partitions keep segments too, but nothing will be replayed for them. */
function whyFinishedLost({
  log,
  registry,
  checkpointer,
}: Pick<StoreParts, 'log' | 'registry' | 'checkpointer'>): string | null {
  let oldest = log.currentSegment;
  for (const { damage, dirtySegment, neededSegment } of registry.all()) {
    if (damage === null) oldest = Math.min(oldest, dirtySegment, neededSegment);
  }
  return log.finished.whyLost(Math.max(oldest, checkpointer.leftSegments));
}
