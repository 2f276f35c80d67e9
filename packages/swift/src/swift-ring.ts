// A ring with the contents of Swift's files, whatever their format, already checked. Pure data.
import { partitionPowerMax, replicaCountMax } from '@ringwright/base/limits';
import type { Device } from '@ringwright/ring/device';
import type { SlotRow, Table } from '@ringwright/ring/ring';
import { copyTable } from '@ringwright/ring/slot-rows';
import { swiftInvalid, swiftUnfit } from './swift-file-error.ts';

export interface SwiftRing {
  /** The number of partitions is 2 to this power. */
  readonly partPower: number;
  /** Target of a partition power increase; null when there is none. */
  readonly nextPartPower: number | null;
  /** Swift's own count of changes; null in old files. It is not an identity. */
  readonly version: number | null;
  readonly devices: readonly (Device | null)[];
  readonly table: Table;
  /** Bytes of a device id in the file; may be wider than the devices need. */
  readonly idBytes: 2 | 4;
  /** Whether it has one more row, without slots, as Swift writes for a fraction below one slot. */
  readonly emptyRow: boolean;
}

/**
 * Swift permits up to 32. Throws SWIFT_FILE_INVALID before anything of the table's size is
 * allocated.
 */
export function requirePartPower(partPower: number): void {
  if (partPower <= partitionPowerMax) return;
  throw swiftUnfit('partition power', `${partPower}, rings here have up to ${partitionPowerMax}`);
}

/** Returns the number of slots by Swift's own arithmetic: the fraction is rounded down. */
export function slotsOfReplicas(replicas: number, partPower: number): number {
  const parts = 2 ** partPower;
  return Math.floor(replicas) * parts + Math.floor(parts * (replicas % 1));
}

/** Returns the table and its shape in the file. Throws SWIFT_FILE_INVALID. */
export function tableAndShape(
  rows: readonly SlotRow[],
  ring: Pick<SwiftRing, 'partPower' | 'devices'>,
): Pick<SwiftRing, 'table' | 'idBytes' | 'emptyRow'> {
  const emptyRow = rows.length > 1 && rows.at(-1)?.length === 0;
  const idBytes = rows.some((row) => row instanceof Uint32Array) ? 4 : 2;
  return { table: tableOfRows(emptyRow ? rows.slice(0, -1) : rows, ring), idBytes, emptyRow };
}

/**
 * Converts rows to a table. All rows but the last must be full, and every slot must name an
 * existing device. Throws SWIFT_FILE_INVALID. Swift permits a device twice in one partition.
 */
function tableOfRows(
  rows: readonly SlotRow[],
  ring: Pick<SwiftRing, 'partPower' | 'devices'>,
): SlotRow[] {
  const partitions = 2 ** ring.partPower;
  if (rows.length < 1 || rows.length > replicaCountMax) {
    throw swiftUnfit('number of rows', `${rows.length}, rings here have 1 to ${replicaCountMax}`);
  }
  for (const [replica, row] of rows.entries()) {
    const whole = row.length === partitions;
    const last = replica === rows.length - 1 && row.length > 0 && row.length < partitions;
    if (!whole && !last) throw swiftInvalid(`length of row ${replica}`, row.length, partitions);
    checkRow(row, replica, ring.devices);
  }
  return copyTable(rows, ring.devices.length);
}

function checkRow(row: SlotRow, replica: number, devices: SwiftRing['devices']): void {
  const known = Uint8Array.from(devices, (device) => (device === null ? 0 : 1));
  const partition = row.findIndex((id) => known[id] !== 1);
  if (partition < 0) return;
  const id = row[partition] ?? -1;
  const what = id < devices.length ? `${id}, a hole` : id;
  throw swiftInvalid(
    `device of partition ${partition}, row ${replica}`,
    what,
    `one of the ${known.reduce((sum, one) => sum + one, 0)} devices`,
  );
}

/** Returns replicas per partition in the table: exact, since partitions are a power of two. */
export function replicasOfTable(table: Table, partPower: number): number {
  return table.reduce((sum, row) => sum + row.length, 0) / 2 ** partPower;
}
