// Applies the log's durable entries to the partition files, partition by partition.
import { must } from '@ringwright/base/assert';
import type { CodedError } from '@ringwright/base/coded-error';
import type { MarksChange } from '../file/marks-change.ts';
import type { HashedRecord } from '../file/memtable.ts';
import type { OpenFiles } from '../file/open-files.ts';
import { noteDamage, type Partition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import type { WriteOutcome } from '../file/record.ts';
import type { LoggedChange } from './log-batch.ts';

export type LoggedEntry = HashedRecord | LoggedChange;

interface ApplyAnswers<W> {
  readonly answer: (entry: W, outcome: WriteOutcome) => void;
  readonly refuse: (entry: W, error: CodedError) => void;
}

const ABSENT: WriteOutcome = { kind: 'absent' };
const APPLIED: WriteOutcome = { kind: 'applied' };

interface ApplyOptions {
  readonly files: Pick<OpenFiles, 'useRows'>;
  /** The log segment that contains the writes. */
  readonly segment: number;
}

/** Returns the partitions that have entries. */
export function applyWrites<W extends LoggedEntry & { readonly partition: Partition }>(
  entries: readonly W[],
  options: ApplyOptions & ApplyAnswers<W>,
): readonly Partition[] {
  const groups = new Map<Partition, W[]>();
  for (const entry of entries) {
    const group = groups.get(entry.partition);
    if (group === undefined) groups.set(entry.partition, [entry]);
    else group.push(entry);
  }
  for (const [partition, group] of groups) applyGroup(partition, group, options);
  return [...groups.keys()];
}

/**
 * Applies the entries of one partition. If its file turns out to be damaged, it is marked, and its
 * entries are refused and stay in the log. Any other error comes from the disk and is thrown.
 */
export function applyGroup<W extends LoggedEntry>(
  partition: Partition,
  group: readonly W[],
  options: ApplyOptions & ApplyAnswers<W>,
): void {
  if (partition.isDropped) {
    for (const entry of group) options.answer(entry, ABSENT);
    return;
  }
  try {
    // A copy of a lost file may be in progress, and it has no entries after its start.
    if (partition.damage !== null) throw partition.damage;
    const outcomes =
      changeClosed(partition, group) ?? applyInOrder(options.files.useRows(partition), group);
    for (const [index, entry] of group.entries()) {
      options.answer(entry, outcomes[index] ?? ABSENT);
    }
  } catch (error) {
    const damage = noteDamage(partition, error);
    for (const entry of group) options.refuse(entry, damage);
  }
  partition.dirtySegment = Math.min(partition.dirtySegment, options.segment);
}

/**
 * Notes a new state or barrier without opening the file. Null if the group has anything else, or if
 * the file is open.
 */
function changeClosed(partition: Partition, group: readonly LoggedEntry[]): WriteOutcome[] | null {
  const { file, hasFile, infoWhenClosed } = partition;
  if (file !== null || !hasFile || infoWhenClosed === null) return null;
  if (group.some((entry) => isRecord(entry) || entry.change.floorMs > 0)) return null;
  for (const entry of group) if (!isRecord(entry)) noteUnstored(partition, entry.change);
  return group.map(() => APPLIED);
}

function noteUnstored(partition: Partition, { state, barrierMs }: MarksChange): void {
  const info = must(partition.infoWhenClosed, 'looked at before');
  const pending = partition.pendingMarks;
  const barrier = Math.max(info.barrierMs, barrierMs);
  partition.infoWhenClosed = { ...info, state: state ?? info.state, barrierMs: barrier };
  partition.pendingMarks = {
    state: state ?? pending?.state ?? null,
    barrierMs: barrier,
    floorMs: 0,
  };
}

/**
 * Keeps the order of records and changes. A raised floor decides which of the records behind it
 * count: in another order, a replay would give rows other sequences.
 */
function applyInOrder(file: PartitionFile, group: readonly LoggedEntry[]): WriteOutcome[] {
  if (group.every(isRecord)) return file.apply(group);
  const outcomes: WriteOutcome[] = [];
  let records: HashedRecord[] = [];
  for (const entry of group) {
    if (isRecord(entry)) {
      records.push(entry);
      continue;
    }
    outcomes.push(...file.apply(records), APPLIED);
    file.change(entry.change);
    records = [];
  }
  return [...outcomes, ...file.apply(records)];
}

function isRecord(entry: LoggedEntry): entry is HashedRecord {
  return !('change' in entry);
}
