// Applies durable writes to their partition files, partition by partition.
import type { CodedError } from '@ringwright/base/coded-error';
import type { HashedRecord } from '../file/memtable.ts';
import type { OpenFiles } from '../file/open-files.ts';
import type { Partition } from '../file/partition.ts';
import type { WriteOutcome } from '../file/record.ts';
import { damageError, isDamage } from '../file/sqlite-errors.ts';

export interface PlacedWrite extends HashedRecord {
  readonly partition: Partition;
}

export interface ApplyAnswers<W> {
  readonly answer: (write: W, outcome: WriteOutcome) => void;
  readonly refuse: (write: W, error: CodedError) => void;
}

const ABSENT: WriteOutcome = { kind: 'absent' };

export interface ApplyOptions {
  readonly files: OpenFiles;
  /** Where the writes are in the log. */
  readonly segment: number;
  /** See RowPlace. */
  readonly bytesStay?: boolean;
}

/** Returns the partitions that have writes. */
export function applyWrites<W extends PlacedWrite>(
  writes: readonly W[],
  options: ApplyOptions & ApplyAnswers<W>,
): Iterable<Partition> {
  const groups = new Map<Partition, W[]>();
  for (const write of writes) {
    const group = groups.get(write.partition);
    if (group === undefined) groups.set(write.partition, [write]);
    else group.push(write);
  }
  for (const [partition, group] of groups) applyGroup(partition, group, options);
  return groups.keys();
}

/**
 * Applies writes of one partition. When its file turns out damaged it is marked, and its writes are
 * refused and stay in the log; any other error is the disk's and is thrown.
 */
export function applyGroup<W extends HashedRecord>(
  partition: Partition,
  group: readonly W[],
  options: ApplyOptions & ApplyAnswers<W>,
): void {
  if (partition.gone) {
    for (const write of group) options.answer(write, ABSENT);
    return;
  }
  try {
    const outcomes = options.files.use(partition).apply(group, options);
    for (const [index, write] of group.entries()) {
      options.answer(write, outcomes[index] ?? ABSENT);
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    partition.damage ??= damageError(error, partition);
    for (const write of group) options.refuse(write, partition.damage);
  }
  partition.dirtySince = Math.min(partition.dirtySince, options.segment);
}
