// The differences between two versions of a ring: devices, settings, slots. Pure.
import { canonicalJson, type Json } from '@ringwright/base/canonical-json';
import type { SlotMove } from './advance-ring.ts';
import type { Device } from './device.ts';
import { isIntervals } from './partitioner/partitioner.ts';
import { partitionerSettings, samePartitioner } from './partitioner/partitioner-settings.ts';
import { deviceIdsAt } from './quorum.ts';
import { deviceIn, type Ring, slotsAt, slotTotal } from './ring.ts';

interface DeviceChange {
  readonly id: number;
  readonly before: Device;
  readonly after: Device;
  /** Names of the fields that differ. */
  readonly fields: readonly (keyof Device)[];
}

export interface SettingChange {
  readonly name: string;
  readonly before: Json;
  readonly after: Json;
}

/** A slot that has another device than before. */
export interface MovedSlot extends SlotMove {
  readonly from: number;
}

export interface RingDiff {
  readonly devicesAdded: readonly Device[];
  readonly devicesRemoved: readonly Device[];
  readonly devicesChanged: readonly DeviceChange[];
  readonly settings: readonly SettingChange[];
  /** Slots for which the table names another device, by partition, then replica. */
  readonly moved: readonly MovedSlot[];
  /** Slots that only one of the tables has, because the replica count changed. */
  readonly slotsAdded: number;
  readonly slotsRemoved: number;
  /** Slots per pair of devices, by from, then to. */
  readonly pairs: readonly { readonly from: number; readonly to: number; readonly slots: number }[];
  /** Moves in flight that only the later version has, and those that only the earlier one has. */
  readonly movesStarted: number;
  readonly movesEnded: number;
}

/** O(slots). Compares slots of partitions in both versions; `settings` shows splits and merges. */
export function diffRings(before: Ring, after: Ring): RingDiff {
  const isSame = before.partitions === after.partitions || isIntervals(after.partitioner);
  const moved = isSame ? movedSlots(before, after) : [];
  const [slotsBefore, slotsAfter] = [slotTotal(before), slotTotal(after)];
  const started = new Set(before.moves.map(({ assignment }) => assignment));
  const ended = new Set(after.moves.map(({ assignment }) => assignment));
  return {
    ...deviceDiff(before, after),
    settings: settingChanges(before, after),
    moved,
    slotsAdded: Math.max(0, slotsAfter - slotsBefore),
    slotsRemoved: Math.max(0, slotsBefore - slotsAfter),
    pairs: pairsOf(moved),
    movesStarted: after.moves.filter(({ assignment }) => !started.has(assignment)).length,
    movesEnded: before.moves.filter(({ assignment }) => !ended.has(assignment)).length,
  };
}

function movedSlots(before: Ring, after: Ring): MovedSlot[] {
  const moved: MovedSlot[] = [];
  const rows = Math.min(before.table.length, after.table.length);
  const fewer = slotTotal(after) < slotTotal(before);
  for (let partition = 0; partition < before.partitions; partition += 1) {
    if (fewer && slotsAt(after, partition) < slotsAt(before, partition)) {
      moved.push(...movedOfFewer(before, after, partition));
      continue;
    }
    for (let replica = 0; replica < rows; replica += 1) {
      const [was, is] = [before.table[replica], after.table[replica]];
      const from = was && deviceIn(was, partition);
      const to = is && deviceIn(is, partition);
      if (from === to || from === undefined || to === undefined) continue;
      moved.push({ partition, replica, from, to });
    }
  }
  return moved;
}

/**
 * For a partition with fewer slots than before: the remaining devices move up. A device that
 * changes its row has not moved, and a slot that ends is not a move either.
 */
function movedOfFewer(before: Ring, after: Ring, partition: number): MovedSlot[] {
  const [had, has] = [deviceIdsAt(before.table, partition), deviceIdsAt(after.table, partition)];
  const leaving = had.filter((id) => !has.includes(id));
  return has.flatMap((to, replica): MovedSlot[] => {
    if (had.includes(to)) return [];
    const ownIndex = leaving.indexOf(had[replica] ?? -1);
    const [from = -1] = leaving.splice(Math.max(0, ownIndex), 1);
    return [{ partition, replica, from, to }];
  });
}

function deviceDiff(
  before: Ring,
  after: Ring,
): Pick<RingDiff, 'devicesAdded' | 'devicesRemoved' | 'devicesChanged'> {
  const devicesAdded: Device[] = [];
  const devicesRemoved: Device[] = [];
  const devicesChanged: DeviceChange[] = [];
  for (let id = 0; id < Math.max(before.devices.length, after.devices.length); id += 1) {
    const [old, now] = [before.devices[id] ?? null, after.devices[id] ?? null];
    if (old === null && now !== null) devicesAdded.push(now);
    if (old !== null && now === null) devicesRemoved.push(old);
    if (old === null || now === null) continue;
    const fields = deviceFields.filter((field) => fieldText(old, field) !== fieldText(now, field));
    if (fields.length > 0) devicesChanged.push({ id, before: old, after: now, fields });
  }
  return { devicesAdded, devicesRemoved, devicesChanged };
}

const deviceFields = [
  'region',
  'zone',
  'ip',
  'port',
  'device',
  'weight',
  'meta',
  'key',
  'replication',
  'extra',
] as const satisfies readonly (keyof Device)[];

function fieldText(device: Device, field: (typeof deviceFields)[number]): string {
  return canonicalJson(device[field] ?? null);
}

const settingNames = ['keyspace', 'cluster', 'partitioner', 'partitions', 'replicas'] as const;

/**
 * Returns the settings that differ. For a legal successor these are at most the replica count, or,
 * in a split or merge, the partitioner and the number of partitions.
 */
export function settingChanges(before: Ring, after: Ring): SettingChange[] {
  return settingNames.flatMap((name) => {
    const [old, now] = [settingOf(before, name), settingOf(after, name)];
    const isSame =
      name === 'partitioner'
        ? samePartitioner(before.partitioner, after.partitioner)
        : canonicalJson(old) === canonicalJson(now);
    return isSame ? [] : [{ name, before: old, after: now }];
  });
}

function settingOf(ring: Ring, name: (typeof settingNames)[number]): Json {
  return name === 'partitioner' ? { ...partitionerSettings(ring.partitioner) } : ring[name];
}

function pairsOf(moved: readonly MovedSlot[]): RingDiff['pairs'] {
  const pairs = new Map<string, { from: number; to: number; slots: number }>();
  for (const { from, to } of moved) {
    const key = `${from} ${to}`;
    const pair = pairs.get(key) ?? { from, to, slots: 0 };
    pair.slots += 1;
    pairs.set(key, pair);
  }
  return [...pairs.values()].sort((a, b) => a.from - b.from || a.to - b.to);
}
