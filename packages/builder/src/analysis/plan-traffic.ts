// The cost of moves in bytes: per device in and out, peak disk use, and the busiest device. Pure.
import { diskReserveBytes } from '@ringwright/base/limits-store';
import { asIntervals } from '@ringwright/ring/partitioner/as-intervals';
import { reshapeMapping } from '@ringwright/ring/partitioner/reshape';
import type { Ring } from '@ringwright/ring/ring';
import type { PlannedMove } from '../plan/plan.ts';
import { wantedIntervals } from '../plan/plan-reshape.ts';
import type { BuilderState } from '../state/builder-state.ts';

/** Sizes that live servers reported; null where none did. */
export interface KnownSizes {
  /** Bytes of a partition's file: the largest among its holders. */
  readonly partitionBytes: (partition: number) => number | null;
  readonly deviceBytes: (device: number) => KnownDisk | null;
  /** Bytes of the partition's file that the device already has: they need no more room. */
  readonly heldBytes: (device: number, partition: number) => number;
  /** Whether the device's server did not answer: it cannot be a source. */
  readonly isAway: (device: number) => boolean;
}

export interface KnownDisk {
  /** Bytes that the device holds now. */
  readonly bytes: number;
  /** Free bytes on its disk, and the size of the disk; null when not reported. */
  readonly free: number;
  readonly total: number | null;
}

export interface DeviceTraffic {
  readonly id: number;
  readonly bytesIn: number;
  /** 0 for a device that is away: other holders send those files. */
  readonly bytesOut: number;
  readonly isAway: boolean;
  /** Bytes held now plus bytes that come in: a file is copied before the old one is dropped. */
  readonly peakBytes: number | null;
  readonly freeBytes: number | null;
  readonly diskBytes: number | null;
  /**
   * False when the incoming files do not fit beside the space that a server keeps free; null when
   * the free space is unknown.
   */
  readonly fits: boolean | null;
}

export interface Traffic {
  readonly bytes: number;
  /** Moves of partitions without a known size: taken as the mean of the known sizes. */
  readonly guessed: number;
  readonly devices: readonly DeviceTraffic[];
  /** The device with the most bytes in one direction, which determines the minimum copy time. */
  readonly busiest: { readonly id: number; readonly bytes: number } | null;
}

/** Returns null when no size is known at all. */
export function planTraffic(moves: readonly PlannedMove[], known: KnownSizes): Traffic | null {
  const sizes = moves.map(({ partition }) => known.partitionBytes(partition));
  const certain = sizes.filter((size) => size !== null);
  if (certain.length === 0) return null;
  const mean = certain.reduce((sum, size) => sum + size, 0) / certain.length;
  const inOut = new Map<number, { bytesIn: number; bytesOut: number }>();
  const trafficOf = (id: number): { bytesIn: number; bytesOut: number } => {
    const found = inOut.get(id) ?? { bytesIn: 0, bytesOut: 0 };
    inOut.set(id, found);
    return found;
  };
  let total = 0;
  moves.forEach(({ partition, from, to }, index) => {
    const size = Math.max(0, (sizes[index] ?? mean) - known.heldBytes(to, partition));
    total += size;
    if (from !== null) trafficOf(from).bytesOut += known.isAway(from) ? 0 : size;
    trafficOf(to).bytesIn += size;
  });
  const devices = [...inOut].map(([id, traffic]) => deviceTraffic(id, traffic, known));
  return {
    bytes: Math.round(total),
    guessed: moves.length - certain.length,
    devices: devices.sort((a, b) => a.id - b.id),
    busiest: busiestOf(devices),
  };
}

function deviceTraffic(
  id: number,
  traffic: { readonly bytesIn: number; readonly bytesOut: number },
  known: KnownSizes,
): DeviceTraffic {
  const bytesIn = Math.round(traffic.bytesIn);
  const bytesOut = Math.round(traffic.bytesOut);
  const disk = known.deviceBytes(id);
  return {
    id,
    bytesIn,
    bytesOut,
    isAway: known.isAway(id),
    peakBytes: disk === null ? null : disk.bytes + bytesIn,
    freeBytes: disk === null ? null : disk.free,
    diskBytes: disk === null ? null : disk.total,
    fits: disk === null ? null : hasRoom(disk.free, bytesIn),
  };
}

/** Whether files of this many bytes fit beside what a server keeps free. */
export function hasRoom(freeBytes: number, bytesIn: number): boolean {
  return bytesIn === 0 || bytesIn + diskReserveBytes <= freeBytes;
}

/** Whether the files would not fit even on an empty disk of this size. */
export function neverFits({
  bytesIn,
  diskBytes,
}: Pick<DeviceTraffic, 'bytesIn' | 'diskBytes'>): boolean {
  return diskBytes !== null && bytesIn + diskReserveBytes > diskBytes;
}

function busiestOf(devices: readonly DeviceTraffic[]): Traffic['busiest'] {
  let busiest: Traffic['busiest'] = null;
  for (const { id, bytesIn, bytesOut } of devices) {
    const bytes = Math.max(bytesIn, bytesOut);
    if (busiest === null || bytes > busiest.bytes) busiest = { id, bytes };
  }
  return busiest;
}

/**
 * Adds the estimated sizes of children: an equal part of each parent, or 0 when a child begins
 * empty. A device writes all of its children.
 */
export function withChildren<Known extends KnownSizes>(
  known: Known,
  head: Ring,
  state: BuilderState,
): Known {
  const [before, wanted] = [asIntervals(head.partitioner), wantedIntervals(head, state)];
  if (before === null || wanted === null) return known;
  const { parents, emptied } = reshapeMapping(before, wanted);
  const parts = new Map<number, number>();
  for (const id of [...parents.values()].flat()) parts.set(id, (parts.get(id) ?? 0) + 1);
  const bytesOf = (child: number): number | null => {
    if (emptied.has(child)) return 0;
    const sizes = (parents.get(child) ?? []).map(known.partitionBytes);
    const some = sizes.filter((size) => size !== null);
    if (some.length < sizes.length) return null;
    const share = (id: number, index: number): number => (some[index] ?? 0) / (parts.get(id) ?? 1);
    return (parents.get(child) ?? []).reduce((sum, id, index) => sum + share(id, index), 0);
  };
  return {
    ...known,
    partitionBytes: (id) => (parents.has(id) ? bytesOf(id) : known.partitionBytes(id)),
  };
}
