// Pins that bring partitions together before a merge, where they are on different devices. Pure.
// Pins are bounds that every plan keeps. So these moves have the waves, minPartHours and room of
// any change, and the partitions stay together until the merge removes the pins.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { pinCountMax } from '@ringwright/base/limits';
import { liveIds } from '@ringwright/ring/partitioner/live-ids';
import type { IntervalPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { partedParents } from '@ringwright/ring/reshape-ring';
import { deviceIn, type Ring } from '@ringwright/ring/ring';
import type { BuilderState, Pin } from '../state/builder-state.ts';
import { apartError, requireSameReplicas, reshapingOf } from './plan-reshape.ts';

/**
 * Returns no pins when all partitions to be merged lie together. Each group goes to the devices of
 * one of its partitions: the one whose devices were chosen least so far, by weight. That is nearly
 * even, and later plans restore balance. In place of devices that are being emptied, it goes to
 * devices of its other partitions. Throws MERGE_APART when there are none, when the partitions are
 * more than pinCountMax, or for a partition that is staged to be split, because only whole ones are
 * brought together; and RESHAPE_UNFIT where another number of replicas is staged.
 */
export function gatherPins(head: Ring, state: BuilderState, wanted: IntervalPartitioner): Pin[] {
  requireSameReplicas(head, state);
  const mapping = reshapingOf(head, wanted);
  const parted = new Set(partedParents(head, mapping).map(String));
  if (parted.size === 0) return [];
  const loads = new Map<number, number>();
  const loadOf = (devices: readonly number[]): number =>
    devices.reduce((sum, id) => sum + (1 + (loads.get(id) ?? 0)) / weightOf(state, id), 0);
  const pins: Pin[] = [];
  const staged = liveIds(state.partitioner);
  for (const ids of mapping.parents.values()) {
    if (ids.length === 1) continue;
    if (staged !== null && ids.some((id) => staged[id] !== 1)) {
      // A merge that is staged already, of partitions that lie together, needs no moves.
      if (!parted.has(String(ids))) continue;
      throw apartError(head, ids);
    }
    const deviceRows = ids
      .map((id) => head.table.map((row) => must(deviceIn(row, id), `no slot of ${id}`)))
      .sort((a, b) => loadOf(a) - loadOf(b));
    const on = receiversOf(state, deviceRows).slice(0, head.table.length);
    if (on.length === 0) throw emptiedError(head, ids);
    for (const id of on) loads.set(id, (loads.get(id) ?? 0) + 1);
    pins.push(...ids.map((partition) => ({ partition, on, off: [] })));
  }
  if (pins.length > pinCountMax) throw tooManyError(head, pins);
  return pins;
}

/** Pins hold all partitions of a merge together, so a large merge has to be made in parts. */
function tooManyError({ keyspace }: Ring, pins: readonly Pin[]): CodedError {
  const [first, second] = pins;
  const message =
    `${pins.length} partitions are to be merged and some lie apart, ` +
    `but at most ${pinCountMax} can be moved together at once`;
  return new CodedError('MERGE_APART', message, {
    hint:
      `ring-builder merge ${keyspace} ${first?.partition} ${second?.partition} merges only these ` +
      `two; merge up to ${pinCountMax / 2} such pairs, commit and rollout, then the others`,
    details: { partitions: pins.length, max: pinCountMax },
  });
}

/** Returns the devices that may hold slots, each once, in this order. */
function receiversOf({ devices }: BuilderState, deviceRows: readonly number[][]): number[] {
  return [...new Set(deviceRows.flat())].filter((id) => {
    const device = devices[id];
    return device?.state === 'active' && device.weight > 0;
  });
}

/** No pin can name a device that is being emptied, so the merge has to wait. */
function emptiedError(head: Ring, ids: readonly number[]): CodedError {
  const { keyspace } = head;
  const { message, details } = apartError(head, ids);
  return new CodedError('MERGE_APART', `${message}, and these are being emptied`, {
    hint: `ring-builder plan ${keyspace} shows where the slots go; merge after that rollout`,
    details,
  });
}

/** Returns the weight of a device. A device that is being emptied counts as full. */
function weightOf({ devices }: BuilderState, id: number): number {
  const device = devices[id];
  return device?.state === 'active' && device.weight > 0 ? device.weight : 1e-9;
}
