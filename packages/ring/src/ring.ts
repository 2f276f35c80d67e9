// The ring: an immutable, numbered map of partitions to devices for one keyspace. Pure data.
import type { Device } from './device.ts';
import type { Move } from './move.ts';
import { liveCountOf, type Partitioner, type Reshape } from './partitioner/partitioner.ts';

/** Device ids of one replica index, by partition. Two-byte ids while every id is below 65,535. */
export type SlotRow = Uint16Array | Uint32Array;

/** One row per replica index. With fractional replicas the last row is shorter than the rest. */
export type Table = readonly SlotRow[];

export interface Ring {
  /** Ring name = keyspace name: [a-z0-9][a-z0-9-]{0,62}. */
  readonly keyspace: string;
  /** Servers refuse rings of another cluster. */
  readonly cluster: string;
  /** 1, 2, 3 …; exactly one above its parent. */
  readonly version: number;
  /** Ring id (64 hex digits) of version - 1; null for version 1. */
  readonly parent: string | null;
  /**
   * Ids of the versions before the parent, newest first, at most ringAncestorsMax. With them, a
   * server that missed some versions sees whether this version continues its line. Absent before
   * version 3; shorter after a version of a program that wrote none.
   */
  readonly ancestors?: readonly string[] | undefined;
  readonly partitioner: Partitioner;
  readonly partitions: number;
  /** Wanted replicas per partition; may be fractional (2.5: every second partition has three). */
  readonly replicas: number;
  /** By device id; null is a hole left by a device that is gone. */
  readonly devices: readonly (Device | null)[];
  /** The present device of each slot: reads go there. For a slot in flight it is the old device. */
  readonly table: Table;
  /** Slots that change their device, sorted by partition, then replica. */
  readonly moves: readonly Move[];
  /** By partition: the version that last changed which devices take its reads or writes. */
  readonly minVersions: Uint32Array;
  /** The assignment id of the next move: ids are never reused in the life of a ring. */
  readonly nextAssignment: number;
  /** The split or merge in progress, or the last one; absent: there was none. */
  readonly reshape?: Reshape | undefined;
}

/** Returns the number of slots: partitions x replicas, rounded to a whole number. */
export function slotCount(partitions: number, replicas: number): number {
  return Math.round(partitions * replicas);
}

/** Returns the slots of partitions that take keys. Columns left by a split or merge have none. */
export function slotTotal({
  partitioner,
  replicas,
}: Pick<Ring, 'partitioner' | 'replicas'>): number {
  return slotCount(liveCountOf(partitioner), replicas);
}

export function slotsAt({ table }: Pick<Ring, 'table'>, partition: number): number {
  let slots = 0;
  for (const row of table) if (deviceIn(row, partition) !== undefined) slots += 1;
  return slots;
}

/** Stands for no device, in a column whose partition takes no requests: not yet, or no longer. */
export function noDeviceIn(row: SlotRow): number {
  return row.BYTES_PER_ELEMENT === 2 ? 0xffff : 0xffff_ffff;
}

/** Returns the device of a slot; undefined where the row has none. */
export function deviceIn(row: SlotRow, partition: number): number | undefined {
  const device = row[partition];
  return device === undefined || device === noDeviceIn(row) ? undefined : device;
}

/** Whether two tables, of any id width, have the same devices in each slot of a partition. */
export function hasSameDevices(before: Table, after: Table, partition: number): boolean {
  const rows = before.length > after.length ? before : after;
  return rows.every((_, replica) => {
    const [was, is] = [before[replica], after[replica]];
    return (was && deviceIn(was, partition)) === (is && deviceIn(is, partition));
  });
}

/** Returns the lengths of a table's rows: full rows, then the remainder. */
export function rowLengths(partitions: number, replicas: number): number[] {
  const lengths: number[] = [];
  for (let left = slotCount(partitions, replicas); left > 0; left -= partitions) {
    lengths.push(Math.min(left, partitions));
  }
  return lengths;
}
