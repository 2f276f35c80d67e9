// Applies the log's durable entries to the partition files, partition by partition.
import { must } from '@ringwright/base/assert';
import type { CodedError } from '@ringwright/base/coded-error';
import { replacedTurnBytesMax } from '@ringwright/base/limits-store';
import type { MarksChange } from '../file/marks-change.ts';
import type { HashedRecord } from '../file/memtable.ts';
import type { OpenFiles } from '../file/open-files.ts';
import { noteDamage, type Partition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import { type ReplacedShare, type WriteOutcome, wholeShare } from '../file/record.ts';
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
  /** Default: no limit. */
  readonly share?: ReplacedShare;
}

/**
 * Each step of the generator is for one turn of the event loop, and gives the partitions that it
 * changed. Most batches take one step.
 */
export function* applyWrites<W extends LoggedEntry & { readonly partition: Partition }>(
  entries: readonly W[],
  options: ApplyOptions & ApplyAnswers<W>,
): Generator<ReadonlySet<Partition>, ReadonlySet<Partition>> {
  const groups = new Map<Partition, W[]>();
  for (const entry of entries) {
    const group = groups.get(entry.partition);
    if (group === undefined) groups.set(entry.partition, [entry]);
    else group.push(entry);
  }
  let changed = new Set<Partition>();
  const share = { bytesLeft: replacedTurnBytesMax };
  const inTurn = { ...options, share };
  for (const [partition, group] of groups) {
    for (let rest: readonly W[] = group; rest.length > 0; ) {
      if (share.bytesLeft <= 0) {
        yield changed;
        changed = new Set();
        share.bytesLeft = replacedTurnBytesMax;
      }
      changed.add(partition);
      rest = rest.slice(applyGroup(partition, rest, inTurn));
    }
  }
  return changed;
}

/**
 * Applies entries of one partition, and returns how many: fewer than all if the share is spent. If
 * its file turns out to be damaged, it is marked, and its entries are refused and stay in the log.
 * Any other error comes from the disk and is thrown.
 */
export function applyGroup<W extends LoggedEntry>(
  partition: Partition,
  group: readonly W[],
  options: ApplyOptions & ApplyAnswers<W>,
): number {
  if (partition.isDropped) {
    for (const entry of group) options.answer(entry, ABSENT);
    return group.length;
  }
  let applied = group;
  try {
    // A copy of a lost file may be in progress, and it has no entries after its start.
    if (partition.damage !== null) throw partition.damage;
    const { files, share = wholeShare } = options;
    const outcomes =
      changeClosed(partition, group) ?? applyInOrder(files.useRows(partition), group, share);
    if (outcomes.length < group.length) applied = group.slice(0, outcomes.length);
    for (const [index, entry] of applied.entries()) {
      options.answer(entry, outcomes[index] ?? ABSENT);
    }
  } catch (error) {
    const damage = noteDamage(partition, error);
    for (const entry of group) options.refuse(entry, damage);
  }
  partition.dirtySegment = Math.min(partition.dirtySegment, options.segment);
  return applied.length;
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
function applyInOrder(
  file: PartitionFile,
  group: readonly LoggedEntry[],
  share: ReplacedShare,
): WriteOutcome[] {
  if (group.every(isRecord)) return file.apply(group, share);
  const outcomes: WriteOutcome[] = [];
  let records: HashedRecord[] = [];
  for (const entry of group) {
    if (isRecord(entry)) {
      records.push(entry);
      continue;
    }
    outcomes.push(...file.apply(records, share));
    if (share.bytesLeft <= 0) return outcomes;
    file.change(entry.change);
    outcomes.push(APPLIED);
    records = [];
  }
  return [...outcomes, ...file.apply(records, share)];
}

function isRecord(entry: LoggedEntry): entry is HashedRecord {
  return !('change' in entry);
}
