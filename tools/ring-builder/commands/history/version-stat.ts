// Summarizes in a few lines what a version changed.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { ErrorCode } from '@ringwright/base/errors';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { readLoggedVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import type { RingFolder } from '@ringwright/repository/folder/ring-folder';
import { diffRings } from '@ringwright/ring/diff-rings';
import { slotTotal } from '@ringwright/ring/ring';

export interface VersionStat {
  readonly devicesAdded: number;
  readonly devicesRemoved: number;
  readonly devicesChanged: number;
  /** Slots for which the table names another device. */
  readonly slotsMoved: number;
  /** Slots that only the later table has, and slots that only the earlier one has. */
  readonly slotsAdded: number;
  readonly slotsRemoved: number;
  readonly movesStarted: number;
  readonly movesEnded: number;
  /** Ids of devices that were changed, or with a slot that started or ended a move. */
  readonly touched: readonly number[];
  readonly lines: readonly string[];
}

/** Returns null if the file of the version or of its parent was removed. */
export async function readStat(
  folder: RingFolder,
  entries: readonly LogEntry[],
  entry: LogEntry,
): Promise<VersionStat | null> {
  try {
    const after = await readLoggedVersion(folder, entries, entry.version);
    const isFirst = entry.parent === null;
    const before = isFirst ? null : await readLoggedVersion(folder, entries, entry.version - 1);
    return before === null ? firstStat(after) : statBetween(before, after);
  } catch (error) {
    const gone: ErrorCode[] = ['RING_VERSION_PRUNED', 'RING_VERSION_UNKNOWN'];
    if (error instanceof CodedError && gone.includes(error.code)) return null;
    throw error;
  }
}

function firstStat({ ring }: StoredVersion): VersionStat {
  const touched = ring.devices.flatMap((device) => (device === null ? [] : [device.id]));
  const counts = {
    ...{ devicesRemoved: 0, devicesChanged: 0, slotsMoved: 0, slotsAdded: slotTotal(ring) },
    ...{ slotsRemoved: 0, movesStarted: 0, movesEnded: 0, devicesAdded: touched.length },
  };
  return { ...counts, touched, lines: [lineOf(counts)] };
}

function statBetween({ ring: before }: StoredVersion, { ring: after }: StoredVersion): VersionStat {
  const diff = diffRings(before, after);
  const [idsBefore, idsAfter] = [new Set(before.moves.map(idOf)), new Set(after.moves.map(idOf))];
  const changed = [
    ...after.moves.filter((move) => !idsBefore.has(idOf(move))),
    ...before.moves.filter((move) => !idsAfter.has(idOf(move))),
    ...diff.moved,
  ];
  const devices = [
    ...diff.devicesAdded.map(({ id }) => id),
    ...diff.devicesRemoved.map(({ id }) => id),
    ...diff.devicesChanged.map(({ id }) => id),
    ...changed.flatMap(({ from, to }) => (from === null ? [to] : [from, to])),
  ];
  const counts = {
    devicesAdded: diff.devicesAdded.length,
    devicesRemoved: diff.devicesRemoved.length,
    devicesChanged: diff.devicesChanged.length,
    slotsMoved: diff.moved.length,
    slotsAdded: diff.slotsAdded,
    slotsRemoved: diff.slotsRemoved,
    movesStarted: diff.movesStarted,
    movesEnded: diff.movesEnded,
  };
  const touched = [...new Set(devices)].sort((a, b) => a - b);
  return { ...counts, touched, lines: [lineOf(counts)] };
}

function idOf({ assignment }: { readonly assignment: number }): number {
  return assignment;
}

function lineOf(counts: Omit<VersionStat, 'touched' | 'lines'>): string {
  const parts = [
    [counts.devicesAdded, '+', 'device', ''],
    [counts.devicesRemoved, '-', 'device', ''],
    [counts.devicesChanged, '~', 'device', ''],
    [counts.slotsMoved, '', 'slot', ' moved'],
    [counts.slotsAdded, '', 'slot', ' added'],
    [counts.slotsRemoved, '', 'slot', ' dropped'],
    [counts.movesStarted, '', 'move', ' began'],
    [counts.movesEnded, '', 'move', ' ended'],
  ] as const;
  const nonZero = parts.filter(([count]) => count > 0);
  return nonZero.length === 0
    ? 'no device and no slot'
    : nonZero.map(([count, sign, what, how]) => `${sign}${counted(count, what)}${how}`).join(', ');
}
