// Versions that split or merge partitions: the first step, completion and cancellation. Pure.
// A child is a new column of the table. Its slots are moves without a source to the devices of its
// parents, so that everything that drives moves drives them too.
import { assert, must } from '@ringwright/base/assert';
import type { Move } from './move.ts';
import { asIntervals } from './partitioner/as-intervals.ts';
import { liveIds } from './partitioner/live-ids.ts';
import { type IntervalPartitioner, isIntervals, type Reshape } from './partitioner/partitioner.ts';
import { samePartitioner } from './partitioner/partitioner-settings.ts';
import { type ReshapeMapping, reshapeMapping, withListedIntervals } from './partitioner/reshape.ts';
import { deviceIdsAt } from './quorum.ts';
import { deviceIn, noDeviceIn, type Ring, type SlotRow } from './ring.ts';
import { copyRow, copyTable, zeroRow } from './slot-rows.ts';

/** The fields that the next version changes, and the partitions whose requests go elsewhere. */
type ReshapeStep = Pick<
  Ring,
  'partitioner' | 'partitions' | 'table' | 'moves' | 'nextAssignment' | 'reshape'
> & { readonly touched: readonly { readonly partition: number }[] };

/** Returns groups of partitions to be merged that are on different devices, and must move first. */
export function partedParents(ring: Ring, { parents, emptied }: ReshapeMapping): number[][] {
  return [...parents]
    .filter(([child, ids]) => ids.length > 1 && !emptied.has(child))
    .map(([, ids]) => [...ids])
    .filter(([first = -1, ...others]) =>
      others.some(
        (other) =>
          new Set([...deviceIdsAt(ring.table, first), ...deviceIdsAt(ring.table, other)]).size >
          ring.table.length,
      ),
    );
}

/**
 * Begins a reshape: children join the devices of their parents, and keys still go to the parents.
 * Asserts that nothing is in flight, that the replica count is whole, and that the parents of each
 * child are on the same devices.
 */
export function beginReshape(ring: Ring, target: IntervalPartitioner): ReshapeStep {
  const { moves } = ring;
  assert(moves.length === 0, `${moves.length} moves in flight: finalize or cancel first`);
  const partitioner = must(
    asIntervals(ring.partitioner),
    `${ring.partitioner.kind} has no intervals`,
  );
  assert(Number.isInteger(ring.replicas), `${ring.replicas} replicas are not whole`);
  const { partitions } = target;
  const mapping = reshapeMapping(partitioner, target);
  const { parents } = mapping;
  assert(partedParents(ring, mapping).length === 0, 'parents lie apart');
  const table = ring.table.map((row) => widened(row, partitions, ring.devices.length));
  const joins = [...parents].flatMap(([partition, [parent = -1]]) =>
    ring.table.map((row, replica): Omit<Move, 'assignment'> => {
      const to = must(deviceIn(row, parent), `no slot (${parent}, ${replica})`);
      return { partition, replica, from: null, to, state: 'PROPOSED' };
    }),
  );
  return {
    partitioner: withListedIntervals(partitioner, partitions),
    partitions,
    table,
    moves: joins.map((move, index) => ({ ...move, assignment: ring.nextAssignment + index })),
    nextAssignment: ring.nextAssignment + joins.length,
    reshape: { kind: 'to', partitioner: target },
    touched: touchedBy(mapping, ring.partitions, partitions),
  };
}

/** Completes a reshape: keys go to the children, and no device holds the parents any more. */
export function finishReshape(ring: Ring): ReshapeStep {
  const { target, current } = reshapeOf(ring);
  const reshaped = reshapeMapping(current, target);
  const table = copyTable(ring.table, ring.devices.length);
  for (const { partition, replica, to } of ring.moves) {
    must(table[replica], `no row ${replica}`)[partition] = to;
  }
  for (const row of table) for (const parent of reshaped.retired) row[parent] = noDeviceIn(row);
  return {
    ...ring,
    partitioner: target,
    table,
    moves: [],
    reshape: { kind: 'from', partitioner: current },
    touched: touchedBy(reshaped),
  };
}

/** Drops the children; their ids are never reused. The parents have taken requests throughout. */
export function cancelReshape(ring: Ring): ReshapeStep {
  const { target, current } = reshapeOf(ring);
  const touched = touchedBy(reshapeMapping(current, target));
  return { ...ring, moves: [], reshape: undefined, touched };
}

/** Returns the future and the present intervals. Asserts that this version splits or merges. */
function reshapeOf(ring: Pick<Ring, 'partitioner' | 'reshape'>): {
  readonly target: IntervalPartitioner;
  readonly current: IntervalPartitioner;
} {
  const { partitioner, reshape } = ring;
  assert(reshape?.kind === 'to' && isIntervals(partitioner), 'nothing is split or merged');
  return { target: reshape.partitioner, current: partitioner };
}

/** Whether the same split or merge is in progress in both versions, or in neither. */
export function isSameReshape(before: Ring['reshape'], after: Ring['reshape']): boolean {
  if (before === undefined || after === undefined) return before === after;
  return before.kind === after.kind && samePartitioner(before.partitioner, after.partitioner);
}

/** Whether `next` completes the split or merge of `previous`, as it was begun. */
export function completesReshape(previous: Ring, next: Ring): boolean {
  const [current, began, ended] = [previous.partitioner, previous.reshape, next.reshape];
  if (began?.kind !== 'to' || ended?.kind !== 'from') return false;
  return (
    samePartitioner(next.partitioner, began.partitioner) &&
    samePartitioner(ended.partitioner, current)
  );
}

const mappings = new WeakMap<Reshape, ReshapeMapping>();

/** Returns the splits and merges in progress, or else the last completed ones. */
export function reshapeMappingOf({
  partitioner,
  reshape,
}: Pick<Ring, 'partitioner' | 'reshape'>): ReshapeMapping {
  if (reshape === undefined || !isIntervals(partitioner)) {
    return { parents: new Map(), retired: new Set(), emptied: new Set() };
  }
  const { kind, partitioner: otherPartitioner } = reshape;
  const mapping =
    mappings.get(reshape) ??
    (kind === 'to'
      ? reshapeMapping(partitioner, otherPartitioner)
      : reshapeMapping(otherPartitioner, partitioner));
  mappings.set(reshape, mapping);
  return mapping;
}

/** Returns the partitions whose keys go to children that are being filled. */
export function retiringIn(ring: Pick<Ring, 'partitioner' | 'reshape'>): ReadonlySet<number> {
  return ring.reshape?.kind === 'to' ? reshapeMappingOf(ring).retired : new Set();
}

/** Returns a test whether a partition neither takes requests nor is a joining child. */
export function isRetired(ring: Pick<Ring, 'partitioner' | 'reshape'>): (id: number) => boolean {
  const live = liveIds(ring.partitioner);
  if (live === null) return () => false;
  const { parents } = ring.reshape?.kind === 'to' ? reshapeMappingOf(ring) : { parents: new Map() };
  return (id) => live[id] !== 1 && !parents.has(id);
}

function touchedBy(
  { parents, retired }: ReshapeMapping,
  before = 0,
  after = 0,
): { readonly partition: number }[] {
  const fresh = Array.from({ length: after - before }, (_, index) => before + index);
  return [...new Set([...retired, ...parents.keys(), ...fresh])].map((partition) => ({
    partition,
  }));
}

function widened(row: SlotRow, partitions: number, deviceCount: number): SlotRow {
  const wide = zeroRow(partitions, deviceCount);
  wide.fill(noDeviceIn(wide));
  return copyRow(row, wide);
}
