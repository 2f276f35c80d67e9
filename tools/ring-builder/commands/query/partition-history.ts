// Lists the versions that touched a partition, newest first: author, message, and the rule that
// moved each slot.
import { CodedError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { type MoveReason, moveReason } from '@ringwright/builder/analysis/move-reason';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLoggedVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { type RingFolder, ringFolder } from '@ringwright/repository/folder/ring-folder';
import { deviceIn, type Ring } from '@ringwright/ring/ring';
import { movesOf } from '@ringwright/ring/slots-of';

/** A partition moves every few weeks, so the last events are enough. */
const EVENTS_MAX = 24;

export interface SlotEvent {
  readonly version: number;
  /** `first`: placed by version 1; `direct`: at once; `finalized`: the table names the joiner. */
  readonly kind: 'first' | 'proposed' | 'finalized' | 'cancelled' | 'direct';
  readonly replica: number;
  readonly from: number | null;
  readonly to: number;
  /** Null for later steps of a move, whose reason belongs to its proposal. */
  readonly reason: MoveReason | null;
  readonly user: string;
  readonly time: string;
  readonly message: string;
}

interface PartitionHistory {
  readonly events: readonly SlotEvent[];
  /** Why the history ends here; null if it reaches the version that made the partition. */
  readonly ends: string | null;
}

/** Follows minVersions back, so that only versions that touched the partition are read. */
export async function partitionHistory(
  { rings, entries }: { readonly rings: string; readonly entries: readonly LogEntry[] },
  head: StoredVersion,
  partition: number,
): Promise<PartitionHistory> {
  const events: SlotEvent[] = [];
  const folder = ringFolder(rings, head.ring.keyspace);
  let at = head;
  for (;;) {
    const touched = at.ring.minVersions[partition] ?? at.ring.version;
    if (touched < at.ring.version) {
      const found = await readOlder(folder, entries, touched);
      if (typeof found === 'string') return { events, ends: found };
      at = found;
      continue;
    }
    const entry = entries.find((one) => makesVersion(one) && one.version === touched);
    if (entry === undefined || touched === 1) {
      return { events: [...events, ...firstEvents(at.ring, partition, entry)], ends: null };
    }
    const before = await readOlder(folder, entries, touched - 1);
    if (typeof before === 'string') return { events, ends: before };
    events.push(...eventsBetween(before.ring, at, { partition, entry }));
    if (events.length >= EVENTS_MAX) return { events, ends: `the last ${events.length} events` };
    // `at` is the first version with this partition, which a split or merge made.
    if (partition >= before.ring.partitions) return { events, ends: null };
    at = before;
  }
}

async function readOlder(
  folder: RingFolder,
  entries: readonly LogEntry[],
  version: number,
): Promise<StoredVersion | string> {
  try {
    return await readLoggedVersion(folder, entries, version);
  } catch (error) {
    const known: ErrorCode[] = ['RING_VERSION_PRUNED', 'RING_VERSION_UNKNOWN', 'RING_FILE_INVALID'];
    if (error instanceof CodedError && known.includes(error.code)) return error.message;
    throw error;
  }
}

function firstEvents(ring: Ring, partition: number, entry: LogEntry | undefined): SlotEvent[] {
  return ring.table.flatMap((row, replica) => {
    const to = deviceIn(row, partition);
    if (to === undefined) return [];
    const { user = '', time = '', message = '' } = entry ?? {};
    const slot = { replica, from: null, to, reason: null };
    return [{ version: ring.version, kind: 'first' as const, ...slot, user, time, message }];
  });
}

function eventsBetween(
  before: Ring,
  { ring, state }: StoredVersion,
  { partition, entry }: { readonly partition: number; readonly entry: LogEntry },
): SlotEvent[] {
  const { version, user, time, message } = entry;
  const commit = { version, user, time, message };
  const [movesBefore, movesNow] = [movesOf(before, partition), movesOf(ring, partition)];
  const events: SlotEvent[] = [];
  for (const move of movesNow) {
    if (movesBefore.some(({ assignment }) => assignment === move.assignment)) continue;
    const reason = state === null ? null : moveReason(before, state, move);
    const { replica, from, to } = move;
    events.push({ kind: 'proposed', replica, from, to, reason, ...commit });
  }
  for (const [replica, row] of ring.table.entries()) {
    const previousDevice = before.table[replica];
    const [from, to] = [
      previousDevice && deviceIn(previousDevice, partition),
      deviceIn(row, partition),
    ];
    if (to === undefined || from === to) continue;
    const move = movesBefore.find((one) => one.replica === replica && one.to === to);
    const slot = { partition, replica, from: from ?? null, to };
    const reason = move !== undefined || state === null ? null : moveReason(before, state, slot);
    const kind = move === undefined ? 'direct' : 'finalized';
    events.push({ kind, replica, from: from ?? null, to, reason, ...commit });
  }
  for (const { assignment, replica, from, to } of movesBefore) {
    const isStillMoving = movesNow.some((one) => one.assignment === assignment);
    if (isStillMoving || ring.table[replica]?.[partition] === to) continue;
    events.push({ kind: 'cancelled', replica, from, to, reason: null, ...commit });
  }
  return events;
}
