// Compares the files of a store with what its directory names. SQLite and the log write on to a
// file that was deleted, replaced or cut, and everything looks well until the next start.
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { filesLookedAtPerTurn } from '@ringwright/base/limits-store';
import { lostError, whyPartitionLost } from '../file/lost-file.ts';
import type { Partition } from '../file/partition.ts';
import { damageError, isDamage } from '../file/sqlite-errors.ts';
import type { StoreParts } from './store-parts.ts';

export interface FilesLook {
  /** Partitions that were looked at. */
  readonly partitions: number;
  /** Damaged from now on: see Store.damaged. */
  readonly lost: readonly {
    readonly keyspace: string;
    readonly partition: number;
    readonly error: CodedError;
  }[];
  /** LOG_DAMAGED when a segment that is needed is lost; what it held goes into the files now. */
  readonly log: CodedError | null;
  /** Of the system: what could not be looked at is taken for well until the next look. */
  readonly errors: readonly unknown[];
}

/** Three calls of the system for each partition, on this thread in short turns. */
export async function lookAtFiles(parts: StoreParts): Promise<FilesLook> {
  const errors: unknown[] = [];
  const noted = (error: unknown): null => {
    errors.push(error);
    return null;
  };
  const mended = await lookAtEmpties(parts).catch(noted);
  const log = (await lookAtLog(parts).catch(noted)) ?? mended;
  const lost: FilesLook['lost'][number][] = [];
  let partitions = 0;
  for (const partition of [...parts.registry.all()]) {
    if (parts.closed) break;
    if (partition.gone || partition.damage !== null) continue;
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

/** SQLite, asked for the length of the WAL, may find damage itself. */
export function damageOf(root: string, partition: Partition): CodedError | null {
  try {
    const why = whyPartitionLost(root, partition);
    return why === null ? null : lostError(partition, why);
  } catch (error) {
    if (isDamage(error)) return damageError(error, partition);
    throw error;
  }
}

/**
 * Memory and the partition files hold everything that the log does, so nothing is lost as long as
 * this process lives: a new segment begins, and all that the lost one stood for is made durable in
 * the files. A store whose log cannot begin anew fails.
 */
async function lookAtLog(parts: StoreParts): Promise<CodedError | null> {
  const { log, checkpointer } = parts;
  const why = whyFinishedLost(parts) ?? (await whyCurrentLost(parts));
  if (why === null) return null;
  log.leaveSegment();
  checkpointer.leaveSegments();
  // Batches that were under way go into the lost segment still.
  void log.drained().then(() => checkpointer.segmentBegan());
  const hint = 'somebody, or another program, changed the data directory; the log begins anew';
  return new CodedError('LOG_DAMAGED', why, { hint });
}

async function lookAtEmpties({ empties }: StoreParts): Promise<CodedError | null> {
  const why = await empties.mend();
  const hint = 'somebody, or another program, changed the data directory; it was written anew';
  return why === null ? null : new CodedError('LOG_DAMAGED', why, { hint });
}

async function whyCurrentLost({
  log,
  checkpointer,
}: Pick<StoreParts, 'log' | 'checkpointer'>): Promise<string | null> {
  return checkpointer.leftSegments > log.currentSegment ? null : log.whyLost();
}

/** Damaged partitions hold back segments too, but nothing will be replayed for them. */
function whyFinishedLost({
  log,
  registry,
  checkpointer,
}: Pick<StoreParts, 'log' | 'registry' | 'checkpointer'>): string | null {
  let oldest = log.currentSegment;
  for (const { damage, dirtySince, keptSince } of registry.all()) {
    if (damage === null) oldest = Math.min(oldest, dirtySince, keptSince);
  }
  return log.whyFinishedLost(Math.max(oldest, checkpointer.leftSegments));
}
